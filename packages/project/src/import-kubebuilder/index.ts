/**
 * A Go project of kubebuilder as a project of this framework.
 * @module
 */
export { type ImportedProject, importKubebuilder, type KubebuilderProject } from './import-kubebuilder.ts'
