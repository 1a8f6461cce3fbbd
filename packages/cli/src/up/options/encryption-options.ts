export interface EncryptionFlags {
  readonly encryptionProviderConfig?: string
  readonly encryptionProviderConfigAutomaticReload: boolean
}
