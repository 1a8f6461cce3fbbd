/** The peer that npm brings; those of the Go program are in `go/go.mod`. */
export const clientNodeVersion = '2.0.1'
