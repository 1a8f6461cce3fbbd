// Package webhook has the markers of the webhooks of two kinds.
package webhook

// +kubebuilder:webhookconfiguration:mutating=true,name=fleet
// +kubebuilder:webhookconfiguration:mutating=false,name=fleet

// +kubebuilder:webhook:path=/mutate-shapes-example-com-v1-captain,mutating=true,failurePolicy=fail,sideEffects=None,groups=shapes.example.com,resources=captains,verbs=create;update,versions=v1,name=default.captain-v1.shapes.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-shapes-example-com-v1-captain,mutating=false,failurePolicy=ignore,matchPolicy=Exact,sideEffects=NoneOnDryRun,timeoutSeconds=5,groups=shapes.example.com,resources=captains,verbs=create;update;delete,versions=v1,name=validate.captain-v1.shapes.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-shapes-example-com-v1-frigate,mutating=true,failurePolicy=fail,sideEffects=None,reinvocationPolicy=IfNeeded,groups=shapes.example.com,resources=frigates,verbs=create;update,versions=v1,name=default.frigate-v1.shapes.example.com,admissionReviewVersions=v1
