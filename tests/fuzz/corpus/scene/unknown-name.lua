particle {}
