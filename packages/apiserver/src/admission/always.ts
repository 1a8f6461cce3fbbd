import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { forbidden } from './policies/policy-request.ts'

/** Admits everything. Off by default. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit' }

/** Rejects everything. Off by default. */
export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', mutate: refuse, validate: refuse }

function refuse(attributes: Attributes): never {
  throw forbidden(attributes, 'admission control is denying all modifications')
}
