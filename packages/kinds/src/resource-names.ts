import { isQualifiedName } from '@coxswain/apimachinery/validation'

/** Whether a resource is huge pages of some size. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** Whether a resource is one of Kubernetes' own: names without a domain, and those under kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

/** Whether a resource is advertised by a device plug-in or a driver. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return isQualifiedName(`requests.${name}`).length === 0
}

/** Whether a Pod can set a request or limit of this resource as a whole, besides those of its containers. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name)
}
