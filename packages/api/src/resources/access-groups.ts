// Who may do what, and how much of it at once.
import type { GroupRows } from './row.ts'

export const authentication: GroupRows = {
  group: 'authentication.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'selfsubjectreviews',
      kind: 'SelfSubjectReview',
      about: 'Answers who the caller is.',
      cluster: true,
      verbs: ['create'],
    },
    {
      resource: 'tokenreviews',
      kind: 'TokenReview',
      about: 'Answers whose a bearer token is.',
      cluster: true,
      verbs: ['create'],
    },
  ],
}

export const authorization: GroupRows = {
  group: 'authorization.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'localsubjectaccessreviews',
      kind: 'LocalSubjectAccessReview',
      about: 'Answers whether a user may perform an action in one namespace.',
      verbs: ['create'],
    },
    {
      resource: 'selfsubjectaccessreviews',
      kind: 'SelfSubjectAccessReview',
      about: 'Answers whether the caller may do something.',
      cluster: true,
      verbs: ['create'],
    },
    {
      resource: 'selfsubjectrulesreviews',
      kind: 'SelfSubjectRulesReview',
      about: 'Answers what the caller may do in a namespace.',
      cluster: true,
      verbs: ['create'],
    },
    {
      resource: 'subjectaccessreviews',
      kind: 'SubjectAccessReview',
      about: 'Answers whether a user may perform an action.',
      cluster: true,
      verbs: ['create'],
    },
  ],
}

export const rbacAuthorization: GroupRows = {
  group: 'rbac.authorization.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'clusterrolebindings',
      kind: 'ClusterRoleBinding',
      about: 'Grants a cluster role to users, groups and service accounts everywhere.',
      cluster: true,
      columns: 'Name:name|Role|Age|Users+|Groups+|ServiceAccounts+',
    },
    {
      resource: 'clusterroles',
      kind: 'ClusterRole',
      about: 'Lists rights that hold in the whole cluster or can be granted in any namespace.',
      cluster: true,
      columns: 'Name:name|Created At@',
    },
    {
      resource: 'rolebindings',
      kind: 'RoleBinding',
      about: 'Grants a role to users, groups and service accounts in one namespace.',
      columns: 'Name:name|Role|Age|Users+|Groups+|ServiceAccounts+',
    },
    {
      resource: 'roles',
      kind: 'Role',
      about: 'Lists rights within one namespace.',
      columns: 'Name:name|Created At@',
    },
  ],
}

export const certificates: GroupRows = {
  group: 'certificates.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'certificatesigningrequests',
      kind: 'CertificateSigningRequest',
      about: 'Asks a signer for a certificate, with approval in between.',
      cluster: true,
      shortNames: ['csr'],
      subresources: ['approval', 'status'],
      columns: 'Name:name|Age|SignerName|Requestor|RequestedDuration|Condition',
      fields: 'spec.signerName',
    },
  ],
}

export const flowcontrolApiserver: GroupRows = {
  group: 'flowcontrol.apiserver.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'flowschemas',
      kind: 'FlowSchema',
      about: 'Sorts requests to the API server into priority levels.',
      cluster: true,
      subresources: ['status'],
      columns: 'Name:name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL',
    },
    {
      resource: 'prioritylevelconfigurations',
      kind: 'PriorityLevelConfiguration',
      about: 'Says how many requests of a level are served at once and how others wait.',
      cluster: true,
      subresources: ['status'],
      columns: 'Name:name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age',
    },
  ],
}
