/** Everything that grows in objects of the core group and of workloads; see README.md. */
import { test } from 'node:test'
import { searchBuiltin } from './builtin.ts'

test('no write of a core kind or a workload takes more time than its length explains', () =>
  searchBuiltin(/^(v1|apps|batch|autoscaling|policy)\//))
