module word-f1

go 1.24
