// What extends the API itself.
import type { GroupRows } from './row.ts'

export const apiregistration: GroupRows = {
  group: 'apiregistration.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'apiservices',
      kind: 'APIService',
      about: 'Routes a group and version of the API to the server that serves it.',
      cluster: true,
      categories: ['api-extensions'],
      subresources: ['status'],
      columns: 'Name:name|Service|Available|Age',
    },
  ],
}

export const admissionregistration: GroupRows = {
  group: 'admissionregistration.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'mutatingadmissionpolicies',
      kind: 'MutatingAdmissionPolicy',
      about: 'Changes objects on their way into the API with CEL expressions.',
      cluster: true,
      categories: ['api-extensions'],
      columns: 'Name:name|Mutations#|ParamKind|Age',
      storedAs: { group: 'admissionregistration.k8s.io', version: 'v1beta1' },
    },
    {
      resource: 'mutatingadmissionpolicybindings',
      kind: 'MutatingAdmissionPolicyBinding',
      about: 'Puts a mutating admission policy to work, with its parameters.',
      cluster: true,
      categories: ['api-extensions'],
      columns: 'Name:name|PolicyName|ParamRef|Age',
      storedAs: { group: 'admissionregistration.k8s.io', version: 'v1beta1' },
    },
    {
      resource: 'mutatingwebhookconfigurations',
      kind: 'MutatingWebhookConfiguration',
      about: 'Registers webhooks that may change objects on their way into the API.',
      cluster: true,
      categories: ['api-extensions'],
      columns: 'Name:name|Webhooks#|Age',
    },
    {
      resource: 'validatingadmissionpolicies',
      kind: 'ValidatingAdmissionPolicy',
      about: 'Refuses objects on their way into the API with CEL expressions.',
      cluster: true,
      categories: ['api-extensions'],
      subresources: ['status'],
      columns: 'Name:name|Validations#|ParamKind|Age',
    },
    {
      resource: 'validatingadmissionpolicybindings',
      kind: 'ValidatingAdmissionPolicyBinding',
      about: 'Puts a validating admission policy to work, with its parameters.',
      cluster: true,
      categories: ['api-extensions'],
      columns: 'Name:name|PolicyName|ParamRef|Age',
    },
    {
      resource: 'validatingwebhookconfigurations',
      kind: 'ValidatingWebhookConfiguration',
      about: 'Registers webhooks that may refuse objects on their way into the API.',
      cluster: true,
      categories: ['api-extensions'],
      columns: 'Name:name|Webhooks#|Age',
    },
  ],
}

export const apiextensions: GroupRows = {
  group: 'apiextensions.k8s.io',
  versions: ['v1'],
  resources: [
    {
      resource: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
      about: 'Adds a kind to the API.',
      cluster: true,
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      subresources: ['status'],
      storedAs: { group: 'apiextensions.k8s.io', version: 'v1beta1' },
      columns: 'Name:name|Created At@',
    },
  ],
}
