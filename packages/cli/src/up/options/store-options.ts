export interface StoreOptions {
  readonly storage: 'sqlite' | 'memory' | 'etcd'
  /** Commits do not wait for the disk. */
  readonly unsafeNoFsync: boolean
  readonly etcdServers?: readonly string[]
  readonly etcdPrefix: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
}
