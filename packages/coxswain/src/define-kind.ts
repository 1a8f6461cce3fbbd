import { createDefineKind, type defineKind as define } from '@coxswain/apimachinery/kinds'
import { validateCustomObject } from '@coxswain/strategies/apiextensions'

/**
 * Defines a kind: the TypeScript type, the CustomResourceDefinition, the validator, the defaults and the conversions in one value, with a
 * handle for each version. Throws a MachineryError `BadKind` for a definition that no server would accept.
 */
export const defineKind: typeof define = createDefineKind(validateCustomObject)
