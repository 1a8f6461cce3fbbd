// A Greeting gets a ConfigMap with its text, and a status that says so. With -bug the status is written first, and what it says is
// believed from then on: a process that ends between the two writes leaves a Greeting without its ConfigMap.
package main

import (
	"context"
	"flag"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var bug = flag.Bool("bug", false, "believe the status")

var greetingKind = schema.GroupVersionKind{Group: "torture.example.com", Version: "v1", Kind: "Greeting"}

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	greeting := &unstructured.Unstructured{}
	greeting.SetGroupVersionKind(greetingKind)
	if err := r.Get(ctx, req.NamespacedName, greeting); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	text, _, _ := unstructured.NestedString(greeting.Object, "spec", "text")
	said, _, _ := unstructured.NestedString(greeting.Object, "status", "text")
	if *bug {
		if said == text {
			return ctrl.Result{}, nil
		}
		if err := r.report(ctx, greeting, text); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.say(ctx, greeting, text)
	}
	if err := r.say(ctx, greeting, text); err != nil || said == text {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, greeting, text)
}

func (r *reconciler) say(ctx context.Context, greeting *unstructured.Unstructured, text string) error {
	config := &corev1.ConfigMap{}
	config.Namespace, config.Name = greeting.GetNamespace(), greeting.GetName()+"-text"
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, config, func() error {
		config.Data = map[string]string{"text": text}
		return controllerutil.SetControllerReference(greeting, config, r.Scheme())
	})
	return err
}

func (r *reconciler) report(ctx context.Context, greeting *unstructured.Unstructured, text string) error {
	changed := greeting.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, text, "status", "text"); err != nil {
		return err
	}
	return r.Status().Update(ctx, changed)
}

func main() {
	flag.Parse() // --kubeconfig is a flag of controller-runtime
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err == nil {
		kind := &unstructured.Unstructured{}
		kind.SetGroupVersionKind(greetingKind)
		err = ctrl.NewControllerManagedBy(manager).For(kind).Owns(&corev1.ConfigMap{}).Complete(&reconciler{manager.GetClient()})
	}
	if err == nil {
		err = manager.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		ctrl.Log.Error(err, "stopped")
		os.Exit(1)
	}
}
