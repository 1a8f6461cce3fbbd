export interface InitOptions {
  readonly domain?: string
  readonly name?: string
  readonly fetchDeps: boolean
  readonly yes: boolean
}

export interface ResourceOptions {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  readonly make: boolean
  readonly yes: boolean
}

export interface CreateApiOptions extends ResourceOptions {
  readonly namespaced: boolean
  readonly resource: boolean
  readonly controller: boolean
}

export interface CreateWebhookOptions extends ResourceOptions {
  readonly defaulting: boolean
  readonly validating: boolean
  readonly conversion: boolean
  readonly spoke?: readonly string[]
}

export interface EditOptions {
  readonly namespaces?: readonly string[]
  readonly clusterWide: boolean
}

export interface UpgradeOptions {
  readonly check: boolean
}
