import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { forbidden } from './policies/policy-request.ts'

/** Says yes. Off by default, and of no use. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit' }

/** Says no to everything. Off by default. */
export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', mutate: refuse, validate: refuse }

function refuse(attributes: Attributes): never {
  throw forbidden(attributes, 'admission control is denying all modifications')
}
