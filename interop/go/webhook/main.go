// Command webhook serves admission webhooks with controller-runtime's server, for the API server to call. It writes the
// port that it was given into the file -ready once it answers, and stops on SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// mutator adds a label to every configmap and warns about it.
type mutator struct{ decoder admission.Decoder }

func (m mutator) Handle(_ context.Context, req admission.Request) admission.Response {
	configMap := &corev1.ConfigMap{}
	if err := m.decoder.Decode(req, configMap); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if configMap.Labels == nil {
		configMap.Labels = map[string]string{}
	}
	configMap.Labels["mutated-by"] = req.UserInfo.Username
	changed, err := json.Marshal(configMap)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(req.Object.Raw, changed).WithWarnings("labelled")
}

// validator refuses configmaps that say so, and the deletion of those that are kept.
type validator struct{ decoder admission.Decoder }

func (v validator) Handle(_ context.Context, req admission.Request) admission.Response {
	configMap := &corev1.ConfigMap{}
	decode := v.decoder.Decode
	if req.Operation == "DELETE" {
		if err := v.decoder.DecodeRaw(req.OldObject, configMap); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if configMap.Data["keep"] == "yes" {
			return admission.Denied("it is kept")
		}
		return admission.Allowed("")
	}
	if err := decode(req, configMap); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if configMap.Data["mood"] == "bad" {
		return admission.Denied("the mood is bad")
	}
	if configMap.Labels["mutated-by"] == "" {
		return admission.Denied("the label is missing")
	}
	return admission.Allowed("")
}

func main() {
	certificates := flag.String("certificates", "", "directory with tls.crt and tls.key")
	port := flag.Int("port", 0, "port to serve on")
	ready := flag.String("ready", "", "file to write the port to")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	decoder := admission.NewDecoder(scheme)
	if *port == 0 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		*port = listener.Addr().(*net.TCPAddr).Port
		listener.Close()
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates})
	server.Register("/mutate", &webhook.Admission{Handler: mutator{decoder}})
	server.Register("/validate", &webhook.Admission{Handler: validator{decoder}})
	ctx := ctrl.SetupSignalHandler()
	go func() {
		for server.StartedChecker()(nil) != nil {
			if ctx.Err() != nil {
				return
			}
		}
		if err := os.WriteFile(*ready, []byte(fmt.Sprint(*port)), 0o600); err != nil {
			log.Fatal(err)
		}
	}()
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
