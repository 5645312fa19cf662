package search

const openFlags = 0
