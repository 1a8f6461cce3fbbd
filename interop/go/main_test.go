// Package interop runs real client-go and controller-runtime programs against the API server that KUBECONFIG names: ours
// or a real kube-apiserver. Nothing here knows which of the two it is.
package interop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// What client-go logs on the way is its own business, unless somebody wants to know (INTEROP_LOG=1).
func TestMain(m *testing.M) {
	if os.Getenv("INTEROP_LOG") == "" {
		klog.SetLogger(logr.Discard())
	}
	os.Exit(m.Run())
}

// config reads KUBECONFIG and leaves the content types alone: what a program gets by default is what is tested.
func config(t *testing.T) *rest.Config {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("KUBECONFIG: %v", err)
	}
	cfg.QPS, cfg.Burst = -1, 0
	return cfg
}

func clientset(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	return kubernetes.NewForConfigOrDie(config(t))
}

// within bounds a test that waits for the server.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// suffix keeps the names of cluster-scoped objects apart when a server is used more than once.
func suffix() string {
	bytes := make([]byte, 4)
	_, _ = rand.Read(bytes)
	return hex.EncodeToString(bytes)
}

// namespace makes a namespace for one test. It stays: without controllers nothing could empty it.
func namespace(t *testing.T) string {
	t.Helper()
	made, err := clientset(t).CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "go-" + suffix()}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

// eventually polls until ready says so.
func eventually(t *testing.T, limit time.Duration, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// exchange is what went over the wire for one request.
type exchange struct{ method, path, query, sent, accepted, answered string }

// recorder notes the content types of every request that a client sends.
type recorder struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen []exchange
}

// record makes a client of this configuration tell its content types.
func record(cfg *rest.Config) *recorder {
	r := &recorder{}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		r.next = next
		return r
	})
	return r
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, exchange{request.Method, request.URL.Path, request.URL.RawQuery,
			request.Header.Get("Content-Type"), request.Header.Get("Accept"), response.Header.Get("Content-Type")})
	}
	return response, err
}

func (r *recorder) exchanges() []exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]exchange(nil), r.seen...)
}
