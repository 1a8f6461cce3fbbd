export interface StoreOptions {
  readonly storage: 'sqlite' | 'memory' | 'etcd'
  readonly etcdServers?: readonly string[]
  readonly etcdPrefix: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
}
