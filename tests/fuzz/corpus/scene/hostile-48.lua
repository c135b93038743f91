goto x ::x:: goto x
