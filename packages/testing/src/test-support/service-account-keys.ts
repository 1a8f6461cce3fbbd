export { testServiceAccounts } from '../internal/service-account-keys.ts'
