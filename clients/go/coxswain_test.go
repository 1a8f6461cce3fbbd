package coxswain

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestServesUntilTheTestEnds(t *testing.T) {
	var server *Server
	t.Run("inner", func(t *testing.T) {
		server = ForTest(t, "--controllers=none")
		if _, err := os.Stat(server.Kubeconfig); err != nil {
			t.Fatal(err)
		}
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		response, err := client.Get(server.URL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if body, _ := io.ReadAll(response.Body); string(body) != "ok" {
			t.Fatalf("readyz: %s", body)
		}
	})
	if _, err := os.Stat(server.folder); !os.IsNotExist(err) {
		t.Fatalf("%s is still there: %v", server.folder, err)
	}
}

func TestTellsWhyItDidNotStart(t *testing.T) {
	if _, err := Start("--no-such-flag"); err == nil || !strings.Contains(err.Error(), "unknown option '--no-such-flag'") {
		t.Fatalf("error: %v", err)
	}
}
