// Package v1 has the Go twins of the kinds in interop/manifests/kinds.
// +groupName=shapes.example.com
package v1
