package interop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientfeatures "k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Every kind that a usual controller manager watches, with what a fresh server holds.
func TestSharedInformersOfManyKindsSync(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		t.Run(fmt.Sprintf("WatchList=%v", watchList), func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			ctx := within(t, 2*time.Minute)
			factory := informers.NewSharedInformerFactory(clientset(t), 0)
			all := []cache.SharedIndexInformer{
				factory.Core().V1().Pods().Informer(), factory.Core().V1().Services().Informer(), factory.Core().V1().Nodes().Informer(),
				factory.Core().V1().Namespaces().Informer(), factory.Core().V1().Secrets().Informer(), factory.Core().V1().ServiceAccounts().Informer(),
				factory.Core().V1().PersistentVolumes().Informer(), factory.Core().V1().PersistentVolumeClaims().Informer(),
				factory.Core().V1().ResourceQuotas().Informer(), factory.Core().V1().LimitRanges().Informer(), factory.Core().V1().Events().Informer(),
				factory.Apps().V1().Deployments().Informer(), factory.Apps().V1().ReplicaSets().Informer(), factory.Apps().V1().DaemonSets().Informer(),
				factory.Apps().V1().StatefulSets().Informer(), factory.Batch().V1().Jobs().Informer(), factory.Batch().V1().CronJobs().Informer(),
				factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(), factory.Policy().V1().PodDisruptionBudgets().Informer(),
				factory.Networking().V1().Ingresses().Informer(), factory.Networking().V1().NetworkPolicies().Informer(),
				factory.Discovery().V1().EndpointSlices().Informer(), factory.Coordination().V1().Leases().Informer(),
				factory.Rbac().V1().ClusterRoles().Informer(), factory.Rbac().V1().RoleBindings().Informer(),
				factory.Storage().V1().StorageClasses().Informer(), factory.Storage().V1().CSINodes().Informer(),
				factory.Scheduling().V1().PriorityClasses().Informer(), factory.Flowcontrol().V1().FlowSchemas().Informer(),
				factory.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer(),
				factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer(),
				factory.Certificates().V1().CertificateSigningRequests().Informer(), factory.Resource().V1().ResourceClaims().Informer(),
			}
			factory.StartWithContext(ctx)
			for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
				if !synced {
					t.Errorf("%v did not sync", kind)
				}
			}
			if got := len(all[3].GetStore().ListKeys()); got < 4 {
				t.Errorf("only %d namespaces", got)
			}
			classes, err := factory.Scheduling().V1().PriorityClasses().Lister().List(labels.Everything())
			must(t, err)
			if len(classes) < 2 {
				t.Errorf("only %d priority classes", len(classes))
			}
		})
	}
}

func TestSharedInformerIndexesAndForgets(t *testing.T) {
	ctx, ns := within(t, 2*time.Minute), namespace(t)
	cfg := config(t)
	client := kubernetes.NewForConfigOrDie(cfg)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "crew" }))
	informer := factory.Core().V1().ConfigMaps().Informer()
	must(t, informer.AddIndexers(cache.Indexers{"crew": func(object any) ([]string, error) {
		return []string{object.(*corev1.ConfigMap).Labels["crew"]}, nil
	}}))
	factory.StartWithContext(ctx)
	factory.WaitForCacheSync(ctx.Done())
	for name, crew := range map[string]string{"a": "red", "b": "red", "c": "blue", "d": ""} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if crew != "" {
			object.Labels = map[string]string{"crew": crew}
		}
		_, err := client.CoreV1().ConfigMaps(ns).Create(ctx, object, metav1.CreateOptions{})
		must(t, err)
	}
	keys := func() []string {
		found, err := informer.GetIndexer().IndexKeys("crew", "red")
		must(t, err)
		slices.Sort(found)
		return found
	}
	eventually(t, time.Minute, "two of the red crew", func() bool { return slices.Equal(keys(), []string{ns + "/a", ns + "/b"}) })
	object, err := client.CoreV1().ConfigMaps(ns).Get(ctx, "a", metav1.GetOptions{})
	must(t, err)
	object.Labels = nil
	_, err = client.CoreV1().ConfigMaps(ns).Update(ctx, object, metav1.UpdateOptions{})
	must(t, err)
	must(t, client.CoreV1().ConfigMaps(ns).Delete(ctx, "b", metav1.DeleteOptions{}))
	eventually(t, time.Minute, "nobody of the red crew", func() bool { return len(keys()) == 0 })
	equal(t, "what is left", len(informer.GetStore().ListKeys()), 1)
}
