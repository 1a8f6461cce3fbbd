/** Everything that grows in objects of the other groups; see README.md. */
import { test } from 'node:test'
import { searchBuiltin } from './builtin.ts'

test('no write of another built-in kind takes more time than its length explains', () =>
  searchBuiltin(/^(?!v1|apps|batch|autoscaling|policy)/))
