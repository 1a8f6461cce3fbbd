/**
 * The images of a project: built from a folder, written as a layout, pushed to a registry.
 * @module
 */
export { type BuildImageOptions, type BuiltImage, buildImage } from './image/build-image.ts'
export { type Image, type ImageSource, loadImage } from './image/image-source.ts'
export { openLayout } from './image/layout.ts'
export { type WriteImageOptions, writeImage } from './image/write-image.ts'
export { type ConnectionOptions, RegistryConnection } from './registry/connection.ts'
export { findCredentials, type RegistryCredentials } from './registry/docker-credentials.ts'
export { attachDocument, type PushOptions, pushImage } from './registry/push-image.ts'
export { type BlobOutcome, Repository } from './registry/registry.ts'
