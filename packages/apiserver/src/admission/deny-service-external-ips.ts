import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from './admission.ts'
import { forbidden } from './policies/policy-request.ts'

/**
 * Rejects new external addresses of a Service, which could intercept other traffic (CVE-2020-8554); existing ones
 * may stay. Off by default.
 */
export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  needs: 'services',
  validate(attributes) {
    const { operation, resource, subresource, object, oldObject } = attributes
    if (resource.info.group !== '' || resource.info.resource !== 'services' || subresource !== '') return
    if (operation !== 'CREATE' && operation !== 'UPDATE') return
    const present = new Set(externalIPs(oldObject))
    if (externalIPs(object).every(address => present.has(address))) return
    throw forbidden(attributes, 'Use of external IPs is denied by admission control')
  },
}

function externalIPs(service: JsonObject | undefined): readonly unknown[] {
  const spec = isObject(service?.spec) ? service.spec : {}
  return Array.isArray(spec.externalIPs) ? spec.externalIPs : []
}
