/**
 * YAML for Kubernetes: a separate entry point, so that programs without YAML do not load a parser.
 *
 *   readYaml / readYamlDocuments    scalars as kubectl and the API server read them, budgets for aliases and size
 *   writeYaml / writeYamlDocuments  what they write
 * @module
 */
export { type ReadYamlOptions, readYaml, readYamlDocuments, type YamlDocument } from './read-yaml.ts'
export { type WriteYamlOptions, writeYaml, writeYamlDocuments } from './write-yaml.ts'
