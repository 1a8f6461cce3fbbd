/** The media types of the OCI image specification, and Docker's for the same things. */
export const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  empty: 'application/vnd.oci.empty.v1+json',
  spdx: 'application/spdx+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerLayer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const

export const isIndexType = (type: string): boolean =>
  type === mediaTypes.index || type === mediaTypes.dockerIndex

export const isManifestType = (type: string): boolean =>
  type === mediaTypes.manifest || type === mediaTypes.dockerManifest

/** A layer's type in an OCI manifest: Docker's gzip layers are the same bytes. */
export const layerType = (type: string): string => (type === mediaTypes.dockerLayer ? mediaTypes.layer : type)
