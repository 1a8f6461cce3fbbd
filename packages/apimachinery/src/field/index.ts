/**
 * Field errors, in Kubernetes' words. Used as `field.required(field.Path.of('spec', 'replicas'))`.
 * @module
 */
export {
  aggregate,
  aggregateMessages,
  duplicate,
  type FieldError,
  type FieldErrorType,
  forbidden,
  formatFieldError,
  internalError,
  invalid,
  notFound,
  notSupported,
  omitValue,
  Printed,
  required,
  toCauses,
  tooFew,
  tooLong,
  tooLongCharacters,
  tooMany,
  tooShort,
  typeInvalid,
} from './error.ts'
export { ErrorList } from './error-list.ts'
export { Path } from './path.ts'
