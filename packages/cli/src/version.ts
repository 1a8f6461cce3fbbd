/** The commit that a bundle was made from; its build defines it. */
declare const coxswainCommit: string

const version = '0.1.0'
/** The release that the server behaves as. */
export const kubernetesVersion = '1.36.4'

const origin = typeof coxswainCommit === 'string' ? `commit ${coxswainCommit}` : 'from source'

/** What `coxswain --version` prints. */
export const versionLine: string = `${version} (${origin}, Kubernetes ${kubernetesVersion})`
