// An open file as HDF5 sees it.
//
// HDF5's own driver loses track when the disk is full: a failed close leaks the file and everything
// in it, and errors are sentences to be searched for numbers. This driver keeps the first error of
// the disk to itself and pretends that writing goes well, so that HDF5 always closes in order;
// whoever writes looks at `error` in the end. Reading fails as it should.
#pragma once

#include <hdf5.h>

typedef struct rp_disk {
    int fd;        // owned by whoever opened it
    int error;     // errno of the first read or write that failed; 0: none
    uint64_t size; // bytes of the file that HDF5 may know of
    hid_t driver;  // registered with HDF5; 0: not
} rp_disk;

// Properties for H5Fcreate() and H5Fopen() that use the disk, which must outlive the file. Their
// name argument is then without meaning.
// @return negative on failure; released by H5Pclose()
hid_t rp_disk_access(rp_disk *disk);
// After the file was closed, and not before: HDF5 1.10.8 looks at a driver once more after it has
// given up the last reference to it.
void rp_disk_release(rp_disk *disk);
