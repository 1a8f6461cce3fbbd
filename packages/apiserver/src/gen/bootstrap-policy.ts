// Written by tools/gen-rbac/gen.ts, which says how to read it. Do not edit.

export const clusterRoles = `
admin
  < aggregate-to-admin
cluster-admin
  * * *
  * = *
edit +aggregate-to-admin
  < aggregate-to-edit
system:aggregate-to-admin +aggregate-to-admin
  create authorization.k8s.io localsubjectaccessreviews
  create,delete,deletecollection,get,list,patch,update,watch rbac.authorization.k8s.io rolebindings,roles
system:aggregate-to-edit +aggregate-to-edit
  get,list,watch - pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate - serviceaccounts
  create,delete,deletecollection,patch,update - pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create - pods/eviction
  create,delete,deletecollection,patch,update - configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
  create - serviceaccounts/token
  create,delete,deletecollection,patch,update -,events.k8s.io events
  create,delete,deletecollection,patch,update apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
  create,delete,deletecollection,patch,update autoscaling horizontalpodautoscalers
  create,delete,deletecollection,patch,update batch cronjobs,jobs
  create,delete,deletecollection,patch,update extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
  create,delete,deletecollection,patch,update policy poddisruptionbudgets
  create,delete,deletecollection,patch,update networking.k8s.io ingresses,networkpolicies
  create,delete,deletecollection,get,list,patch,update,watch coordination.k8s.io leases
  create,delete,deletecollection,patch,update resource.k8s.io resourceclaims,resourceclaimtemplates
system:aggregate-to-view +aggregate-to-view
  get,list,watch - configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
  get,list,watch - bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status
  get,list,watch - namespaces
  get,list,watch -,events.k8s.io events
  get,list,watch discovery.k8s.io endpointslices
  get,list,watch apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
  get,list,watch autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status
  get,list,watch batch cronjobs,cronjobs/status,jobs,jobs/status
  get,list,watch extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale
  get,list,watch policy poddisruptionbudgets,poddisruptionbudgets/status
  get,list,watch networking.k8s.io ingresses,ingresses/status,networkpolicies
  get,list,watch resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates
system:auth-delegator
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
system:basic-user
  create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews
  create authentication.k8s.io selfsubjectreviews
system:certificates.k8s.io:certificatesigningrequests:nodeclient
  create certificates.k8s.io certificatesigningrequests/nodeclient
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  create certificates.k8s.io certificatesigningrequests/selfnodeclient
system:certificates.k8s.io:kube-apiserver-client-approver
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
system:certificates.k8s.io:kubelet-serving-approver
  approve certificates.k8s.io signers kubernetes.io/kubelet-serving
system:certificates.k8s.io:legacy-unknown-approver
  approve certificates.k8s.io signers kubernetes.io/legacy-unknown
system:controller:attachdetach-controller
  list,watch - persistentvolumeclaims,persistentvolumes
  get,list,watch - nodes
  patch,update - nodes/status
  list,watch - pods
  create,patch,update -,events.k8s.io events
  create,delete,get,list,watch storage.k8s.io volumeattachments
  get,list,watch storage.k8s.io csidrivers
  get,list,watch storage.k8s.io csinodes
system:controller:certificate-controller
  delete,get,list,watch certificates.k8s.io certificatesigningrequests
  update certificates.k8s.io certificatesigningrequests/approval,certificatesigningrequests/status
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
  sign certificates.k8s.io signers kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
  create authorization.k8s.io subjectaccessreviews
  create,patch,update -,events.k8s.io events
system:controller:clusterrole-aggregation-controller
  escalate,get,list,patch,update,watch rbac.authorization.k8s.io clusterroles
system:controller:cronjob-controller
  get,list,update,watch batch cronjobs
  create,delete,get,list,patch,update,watch batch jobs
  update batch cronjobs/status
  update batch cronjobs/finalizers
  delete,list,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:daemon-set-controller
  get,list,watch apps,extensions daemonsets
  update apps,extensions daemonsets/status
  update apps,extensions daemonsets/finalizers
  list,watch - nodes
  create,delete,list,patch,watch - pods
  create - pods/binding
  create,delete,get,list,patch,update,watch apps controllerrevisions
  create,patch,update -,events.k8s.io events
system:controller:deployment-controller
  get,list,update,watch apps,extensions deployments
  update apps,extensions deployments/status
  update apps,extensions deployments/finalizers
  create,delete,get,list,patch,update,watch apps,extensions replicasets
  get,list,update,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:device-taint-eviction-controller
  delete,get,list,watch - pods
  patch,update - pods/status
  get,list,watch resource.k8s.io resourceclaims
  get,list,watch resource.k8s.io resourceslices
  get,list,watch resource.k8s.io deviceclasses
  create,patch,update -,events.k8s.io events
system:controller:disruption-controller
  get,list,watch apps,extensions deployments
  get,list,watch apps,extensions replicasets
  get,list,watch - replicationcontrollers
  get,list,watch policy poddisruptionbudgets
  get,list,watch apps statefulsets
  update policy poddisruptionbudgets/status
  patch,update - pods/status
  get * */scale
  create,patch,update -,events.k8s.io events
system:controller:endpoint-controller
  get,list,watch - pods,services
  create,delete,get,list,update,watch - endpoints
  create - endpoints/restricted
  create,patch,update -,events.k8s.io events
system:controller:endpointslice-controller
  get,list,watch - nodes,pods,services
  update - services/finalizers
  create,delete,get,list,update,watch discovery.k8s.io endpointslices
  create,patch,update -,events.k8s.io events
system:controller:endpointslicemirroring-controller
  get,list,watch - endpoints,services
  update - services/finalizers
  update - endpoints/finalizers
  create,delete,get,list,update,watch discovery.k8s.io endpointslices
  create,patch,update -,events.k8s.io events
system:controller:ephemeral-volume-controller
  get,list,watch - pods
  update - pods/finalizers
  create,get,list,watch - persistentvolumeclaims
  create,patch,update -,events.k8s.io events
system:controller:expand-controller
  get,list,patch,update,watch - persistentvolumes
  patch,update - persistentvolumeclaims/status
  get,list,watch - persistentvolumeclaims
  create,patch,update -,events.k8s.io events
system:controller:generic-garbage-collector
  delete,get,list,patch,update,watch * *
  create,patch,update -,events.k8s.io events
system:controller:horizontal-pod-autoscaler
  get,list,watch autoscaling horizontalpodautoscalers
  update autoscaling horizontalpodautoscalers/status
  get,update * */scale
  list,watch - pods
  list,watch metrics.k8s.io pods
  get,list,watch custom.metrics.k8s.io *
  get,list,watch external.metrics.k8s.io *
  create,patch,update -,events.k8s.io events
system:controller:job-controller
  get,list,patch,update,watch batch jobs
  update batch jobs/status
  update batch jobs/finalizers
  create,delete,list,patch,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:legacy-service-account-token-cleaner
  get - configmaps kube-apiserver-legacy-service-account-token-tracking
  delete,patch - secrets
system:controller:namespace-controller
  delete,get,list,watch - namespaces
  update - namespaces/finalize,namespaces/status
  delete,deletecollection,get,list,watch * *
system:controller:node-controller
  delete,get,list,patch,update,watch - nodes
  patch,update - nodes/status
  patch,update - pods/status
  delete,get,list,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:persistent-volume-binder
  create,delete,get,list,update,watch - persistentvolumes
  update - persistentvolumes/status
  get,list,update,watch - persistentvolumeclaims
  update - persistentvolumeclaims/status
  create,delete,get,list,watch - pods
  get,list,watch storage.k8s.io storageclasses
  list,watch - nodes
  create,patch,update -,events.k8s.io events
  watch - events
system:controller:pod-garbage-collector
  delete,list,watch - pods
  get,list,watch - nodes
  patch - pods/status
system:controller:pv-protection-controller
  get,list,update,watch - persistentvolumes
  create,patch,update -,events.k8s.io events
system:controller:pvc-protection-controller
  get,list,update,watch - persistentvolumeclaims
  update - persistentvolumeclaims/status
  get,list,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:replicaset-controller
  get,list,update,watch apps,extensions replicasets
  update apps,extensions replicasets/status
  update apps,extensions replicasets/finalizers
  create,delete,list,patch,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:replication-controller
  get,list,update,watch - replicationcontrollers
  update - replicationcontrollers/status
  update - replicationcontrollers/finalizers
  create,delete,list,patch,watch - pods
  create,patch,update -,events.k8s.io events
system:controller:resource-claim-controller
  get,list,watch - pods
  update - pods/finalizers
  create,delete,get,list,watch resource.k8s.io resourceclaims
  patch,update resource.k8s.io resourceclaims,resourceclaims/status
  patch,update - pods/status
  create,patch,update -,events.k8s.io events
  patch,update resource.k8s.io resourceclaims/binding
system:controller:resourcequota-controller
  list,watch * *
  update - resourcequotas/status
  create,patch,update -,events.k8s.io events
system:controller:root-ca-cert-publisher
  create,update - configmaps
  create,patch,update -,events.k8s.io events
system:controller:route-controller
  list,watch - nodes
  patch - nodes/status
  create,patch,update -,events.k8s.io events
system:controller:selinux-warning-controller
  create,patch,update -,events.k8s.io events
  get,list,watch - persistentvolumes
  get,list,watch - persistentvolumeclaims
  get,list,watch - pods
  get,list,watch storage.k8s.io csidrivers
system:controller:service-account-controller
  create - serviceaccounts
  create,patch,update -,events.k8s.io events
system:controller:service-cidrs-controller
  get,list,patch,update,watch networking.k8s.io servicecidrs
  patch,update networking.k8s.io servicecidrs/finalizers
  patch,update networking.k8s.io servicecidrs/status
  get,list,watch networking.k8s.io ipaddresses
  create,patch,update -,events.k8s.io events
system:controller:service-controller
  get,list,watch - services
  patch,update - services/status
  list,watch - nodes
  create,patch,update -,events.k8s.io events
system:controller:statefulset-controller
  list,watch - pods
  get,list,watch apps statefulsets
  update apps statefulsets/status
  update apps statefulsets/finalizers
  create,delete,get,patch,update - pods
  create,delete,get,list,patch,update,watch apps controllerrevisions
  create,get,list,watch - persistentvolumeclaims
  delete,update - persistentvolumeclaims
  update - pods/finalizers
  create,patch,update -,events.k8s.io events
system:controller:ttl-after-finished-controller
  delete,get,list,watch batch jobs
  create,patch,update -,events.k8s.io events
system:controller:ttl-controller
  list,patch,update,watch - nodes
  create,patch,update -,events.k8s.io events
system:controller:validatingadmissionpolicy-status-controller
  get,list,watch admissionregistration.k8s.io validatingadmissionpolicies
  get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status
  create,patch,update -,events.k8s.io events
system:controller:volumeattributesclass-protection-controller
  get,list,watch - persistentvolumeclaims
  get,list,watch - persistentvolumes
  get,list,update,watch storage.k8s.io volumeattributesclasses
  create,patch,update -,events.k8s.io events
system:discovery
  get = /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
system:heapster
  get,list,watch - events,namespaces,nodes,pods
  get,list,watch extensions deployments
system:kube-aggregator
  get,list,watch - endpoints,services
system:kube-controller-manager
  create,patch,update -,events.k8s.io events
  create coordination.k8s.io leases
  get,update coordination.k8s.io leases kube-controller-manager
  create - secrets,serviceaccounts
  delete - secrets
  get - configmaps,namespaces,secrets,serviceaccounts
  update - secrets,serviceaccounts
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  list,watch * *
  create - serviceaccounts/token
system:kube-dns
  list,watch - endpoints,services
system:kube-scheduler
  create,patch,update -,events.k8s.io events
  create coordination.k8s.io leases
  get,list,update,watch coordination.k8s.io leases kube-scheduler
  create,delete,deletecollection,get,list,patch,update,watch coordination.k8s.io leasecandidates
  get,list,watch - nodes
  delete,get,list,watch - pods
  create - bindings,pods/binding
  patch,update - pods/status
  get,list,watch - replicationcontrollers,services
  get,list,watch apps,extensions replicasets
  get,list,watch apps statefulsets
  get,list,watch policy poddisruptionbudgets
  get,list,watch - persistentvolumeclaims,persistentvolumes
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  get,list,watch storage.k8s.io csinodes
  get,list,watch storage.k8s.io volumeattachments
  get,list,watch - namespaces
  get,list,watch storage.k8s.io csidrivers
  get,list,watch storage.k8s.io csistoragecapacities
  get,list,watch resource.k8s.io deviceclasses
  get,list,patch,update,watch resource.k8s.io resourceclaims
  get,list,patch,update,watch resource.k8s.io resourceclaims/status
  update - pods/finalizers
  get,list,watch resource.k8s.io resourceslices
  create,delete resource.k8s.io resourceclaims
  patch,update resource.k8s.io resourceclaims/binding
system:kubelet-api-admin
  get,list,watch - nodes
  proxy - nodes
  * - nodes/log,nodes/metrics,nodes/proxy,nodes/stats
  * - nodes/configz,nodes/healthz,nodes/pods
system:monitoring
  get = /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz
  get - nodes/metrics
system:node
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews
  get,list,watch - services
  create,get,list,watch - nodes
  patch,update - nodes/status
  patch,update - nodes
  create,patch,update -,events.k8s.io events
  get,list,watch - pods
  create,delete - pods
  patch,update - pods/status
  create - pods/eviction
  get,list,watch - configmaps,secrets
  get - persistentvolumeclaims,persistentvolumes
  get - endpoints
  create,get,list,watch certificates.k8s.io certificatesigningrequests
  create,delete,get,patch,update coordination.k8s.io leases
  get storage.k8s.io volumeattachments
  create - serviceaccounts/token
  get,patch,update - persistentvolumeclaims/status
  get,list,watch storage.k8s.io csidrivers
  create,delete,get,patch,update storage.k8s.io csinodes
  get,list,watch node.k8s.io runtimeclasses
  get resource.k8s.io resourceclaims
  deletecollection resource.k8s.io resourceslices
  get - serviceaccounts
system:node-bootstrapper
  create,get,list,watch certificates.k8s.io certificatesigningrequests
system:node-problem-detector
  get - nodes
  patch - nodes/status
  create,patch,update -,events.k8s.io events
system:node-proxier
  list,watch - endpoints,services
  get,list,watch - nodes
  create,patch,update -,events.k8s.io events
  list,watch networking.k8s.io servicecidrs
  list,watch discovery.k8s.io endpointslices
system:persistent-volume-provisioner
  create,delete,get,list,watch - persistentvolumes
  get,list,update,watch - persistentvolumeclaims
  get,list,watch storage.k8s.io storageclasses
  watch - events
  create,patch,update -,events.k8s.io events
system:public-info-viewer
  get = /healthz,/livez,/readyz,/version,/version/
system:service-account-issuer-discovery
  get = /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
system:volume-scheduler
  get,list,patch,update,watch - persistentvolumes
  get,list,watch storage.k8s.io storageclasses
  get,list,patch,update,watch - persistentvolumeclaims
view +aggregate-to-edit
  < aggregate-to-view
`

export const clusterRoleBindings = `
cluster-admin
  Group system:masters
system:basic-user
  Group system:authenticated
system:controller:attachdetach-controller
  ServiceAccount kube-system/attachdetach-controller
system:controller:certificate-controller
  ServiceAccount kube-system/certificate-controller
system:controller:clusterrole-aggregation-controller
  ServiceAccount kube-system/clusterrole-aggregation-controller
system:controller:cronjob-controller
  ServiceAccount kube-system/cronjob-controller
system:controller:daemon-set-controller
  ServiceAccount kube-system/daemon-set-controller
system:controller:deployment-controller
  ServiceAccount kube-system/deployment-controller
system:controller:device-taint-eviction-controller
  ServiceAccount kube-system/device-taint-eviction-controller
system:controller:disruption-controller
  ServiceAccount kube-system/disruption-controller
system:controller:endpoint-controller
  ServiceAccount kube-system/endpoint-controller
system:controller:endpointslice-controller
  ServiceAccount kube-system/endpointslice-controller
system:controller:endpointslicemirroring-controller
  ServiceAccount kube-system/endpointslicemirroring-controller
system:controller:ephemeral-volume-controller
  ServiceAccount kube-system/ephemeral-volume-controller
system:controller:expand-controller
  ServiceAccount kube-system/expand-controller
system:controller:generic-garbage-collector
  ServiceAccount kube-system/generic-garbage-collector
system:controller:horizontal-pod-autoscaler
  ServiceAccount kube-system/horizontal-pod-autoscaler
system:controller:job-controller
  ServiceAccount kube-system/job-controller
system:controller:legacy-service-account-token-cleaner
  ServiceAccount kube-system/legacy-service-account-token-cleaner
system:controller:namespace-controller
  ServiceAccount kube-system/namespace-controller
system:controller:node-controller
  ServiceAccount kube-system/node-controller
system:controller:persistent-volume-binder
  ServiceAccount kube-system/persistent-volume-binder
system:controller:pod-garbage-collector
  ServiceAccount kube-system/pod-garbage-collector
system:controller:pv-protection-controller
  ServiceAccount kube-system/pv-protection-controller
system:controller:pvc-protection-controller
  ServiceAccount kube-system/pvc-protection-controller
system:controller:replicaset-controller
  ServiceAccount kube-system/replicaset-controller
system:controller:replication-controller
  ServiceAccount kube-system/replication-controller
system:controller:resource-claim-controller
  ServiceAccount kube-system/resource-claim-controller
system:controller:resourcequota-controller
  ServiceAccount kube-system/resourcequota-controller
system:controller:root-ca-cert-publisher
  ServiceAccount kube-system/root-ca-cert-publisher
system:controller:route-controller
  ServiceAccount kube-system/route-controller
system:controller:selinux-warning-controller
  ServiceAccount kube-system/selinux-warning-controller
system:controller:service-account-controller
  ServiceAccount kube-system/service-account-controller
system:controller:service-cidrs-controller
  ServiceAccount kube-system/service-cidrs-controller
system:controller:service-controller
  ServiceAccount kube-system/service-controller
system:controller:statefulset-controller
  ServiceAccount kube-system/statefulset-controller
system:controller:ttl-after-finished-controller
  ServiceAccount kube-system/ttl-after-finished-controller
system:controller:ttl-controller
  ServiceAccount kube-system/ttl-controller
system:controller:validatingadmissionpolicy-status-controller
  ServiceAccount kube-system/validatingadmissionpolicy-status-controller
system:controller:volumeattributesclass-protection-controller
  ServiceAccount kube-system/volumeattributesclass-protection-controller
system:discovery
  Group system:authenticated
system:kube-controller-manager
  User system:kube-controller-manager
system:kube-dns
  ServiceAccount kube-system/kube-dns
system:kube-scheduler
  User system:kube-scheduler
system:monitoring
  Group system:monitoring
system:node
system:node-proxier
  User system:kube-proxy
system:public-info-viewer
  Group system:authenticated
  Group system:unauthenticated
system:service-account-issuer-discovery
  Group system:serviceaccounts
system:volume-scheduler
  User system:kube-scheduler
`

export const roles = `
kube-public/system:controller:bootstrap-signer
  get,list,watch - configmaps
  update - configmaps cluster-info
  create,patch,update -,events.k8s.io events
kube-system/extension-apiserver-authentication-reader
  get,list,watch - configmaps extension-apiserver-authentication
kube-system/system::leader-locking-kube-controller-manager
  create,get,list,update,watch coordination.k8s.io leases
  create,get,list,update,watch coordination.k8s.io leasecandidates
kube-system/system::leader-locking-kube-scheduler
  create,get,list,update,watch coordination.k8s.io leases
  create,get,list,update,watch coordination.k8s.io leasecandidates
kube-system/system:controller:bootstrap-signer
  get,list,watch - secrets
kube-system/system:controller:cloud-provider
  create,get,list,watch - configmaps
kube-system/system:controller:token-cleaner
  delete,get,list,watch - secrets
  create,patch,update -,events.k8s.io events
`

export const roleBindings = `
kube-public/system:controller:bootstrap-signer
  ServiceAccount kube-system/bootstrap-signer
kube-system/system::extension-apiserver-authentication-reader extension-apiserver-authentication-reader
  User system:kube-controller-manager
  User system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager
  User system:kube-controller-manager
  ServiceAccount kube-system/kube-controller-manager
  ServiceAccount kube-system/leader-election-controller
kube-system/system::leader-locking-kube-scheduler
  User system:kube-scheduler
  ServiceAccount kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer
  ServiceAccount kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider
  ServiceAccount kube-system/cloud-provider
kube-system/system:controller:token-cleaner
  ServiceAccount kube-system/token-cleaner
`
