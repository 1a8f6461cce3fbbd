/** Kinds: the DSL that defines them, their CustomResourceDefinitions, and their resource information. */
export type {
  Builder,
  CelOptions,
  ListBuilder,
  NumberBuilder,
  ObjectBuilder,
  StringBuilder,
} from './builder.ts'
export type { ApplyField, ListMap, SchemaRef } from './builder-types.ts'
export {
  type ConversionStep,
  type Conversions,
  type Converted,
  convertObject,
} from './conversion.ts'
export {
  type CrdOptions,
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionVersion,
  toCustomResourceDefinition,
} from './crd.ts'
export { resourceInfoFromCrd } from './crd-resource-info.ts'
export {
  type AnyDefinedKind,
  type ColumnDefinition,
  conversionsOfKind,
  createDefineKind,
  type DefinedKind,
  type DefinedVersion,
  definedKindOf,
  defineKind,
  isDefinedKind,
  type KindConversions,
  type KindDefinition,
  type ObjectValidator,
  type ScaleDefinition,
  type VersionDefinition,
  type Versionless,
} from './define-kind.ts'
export type { ApplyOf, CreateOf, Kind, KindOf } from './kind.ts'
export type { PrinterColumn, ResourceInfo, SubresourceInfo, Verb, VersionInfo } from './resource-info.ts'
export {
  type Embedded,
  type EmbeddedObjectMeta,
  type ListOptions,
  type MapOptions,
  type NumberOptions,
  type StringOptions,
  s,
} from './s.ts'
