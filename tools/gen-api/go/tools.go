//go:build tools

package main

import (
	_ "k8s.io/kube-openapi/cmd/openapi-gen"
)
