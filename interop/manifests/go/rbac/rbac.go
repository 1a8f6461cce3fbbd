// Package rbac has the markers of a manager with two controllers.
package rbac

// +kubebuilder:rbac:groups=shapes.example.com,resources=captains,verbs=get;list;watch;patch,roleName=captain-role
// +kubebuilder:rbac:groups=shapes.example.com,resources=captains/status,verbs=update,roleName=captain-role
// +kubebuilder:rbac:groups=core,resources=pods;configmaps,verbs=get;list;watch,roleName=captain-role
// +kubebuilder:rbac:groups=core,resources=pods,verbs=create;delete,roleName=captain-role
// +kubebuilder:rbac:groups=core,resources=events,verbs=create;patch,roleName=captain-role
// +kubebuilder:rbac:groups=core,resources=secrets,resourceNames=treasure,verbs=get,roleName=captain-role
// +kubebuilder:rbac:urls=/healthz;/metrics,verbs=get,roleName=captain-role

// +kubebuilder:rbac:groups=shapes.example.com,resources=frigates,verbs=get;list;watch,roleName=frigate-role
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=get;list;watch,roleName=frigate-role
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=*,roleName=frigate-role
// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=update,roleName=frigate-role
// +kubebuilder:rbac:groups=core,resources=events,verbs=create;patch,roleName=frigate-role
// +kubebuilder:rbac:groups=core,namespace=harbor,resources=configmaps,verbs=update,roleName=fleet-frigate-role

// +kubebuilder:rbac:groups=core,resources=nodes,verbs=get;list
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations;validatingwebhookconfigurations,resourceNames=fleet-fleet,verbs=get;update
