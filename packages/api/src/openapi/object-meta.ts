import type { Definition } from '../table/definition.ts'

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** What `kubectl explain` prints about the fields that every object has. */
const texts: Readonly<Record<string, string>> = {
  annotations:
    'Annotations are strings that tools and controllers keep with the object. They cannot be selected by.',
  creationTimestamp:
    'CreationTimestamp is a timestamp of the moment when the server stored the object. Clients cannot set it.',
  deletionGracePeriodSeconds:
    'Seconds that the object may take to terminate. The server sets it when the object is deleted.',
  deletionTimestamp:
    'The time at which the object may be removed. The server sets it when the object is deleted; from then on the object is terminating.',
  finalizers:
    'Names of controllers that have work to do before the object is removed. The object is kept until the list is empty.',
  generateName:
    'A prefix for which the server completes a unique name when the object is created without one.',
  generation: 'A number that the server increments whenever the desired state changes.',
  labels: 'Labels are keys and values that selectors match.',
  managedFields: 'Which client manages which fields. The server keeps it for server-side apply.',
  name: 'The name of the object, unique among the objects of its resource in the namespace. It cannot be changed.',
  namespace: 'The namespace that the object is in; empty for cluster-scoped resources. It cannot be changed.',
  ownerReferences:
    'The objects that this one depends on. It is deleted by garbage collection when all of them have been.',
  resourceVersion:
    'The version of the stored object. An update that names another version than the stored one is a conflict.',
  selfLink: 'Not set by any server; kept for old clients.',
  uid: 'Identifies the object for all time: another object of the same name has another uid.',
}

/** Adds those texts to the definition of ObjectMeta; others stay as they are. */
export function explainObjectMeta(name: string, definition: Definition): Definition {
  if (name !== objectMeta) return definition
  const properties = Object.entries(definition.properties as Record<string, Definition>)
  return {
    ...definition,
    properties: Object.fromEntries(
      properties.map(([field, node]) => [
        field,
        texts[field] ? { description: texts[field], ...node } : node,
      ]),
    ),
  }
}
