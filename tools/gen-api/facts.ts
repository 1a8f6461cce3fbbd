import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface FieldFacts {
  readonly go: string
  readonly json: string
  readonly options?: readonly string[]
  readonly protobuf?: string
  readonly type: string
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
}

export interface TypeFacts {
  readonly kind: 'struct' | 'slice'
  readonly elem?: string
  readonly fields?: readonly FieldFacts[]
}

export type DefinitionFacts = Record<string, unknown>

/** What `go/main.go` prints. */
export interface Facts {
  readonly kinds: readonly { Group: string; Version: string; Kind: string; Type: string }[]
  readonly types: Readonly<Record<string, TypeFacts>>
  readonly definitions: Readonly<Record<string, DefinitionFacts>>
}

const otherPackages = [
  'k8s.io/apimachinery/pkg/apis/meta/v1',
  'k8s.io/apimachinery/pkg/apis/meta/v1beta1',
  'k8s.io/apimachinery/pkg/api/resource',
  'k8s.io/apimachinery/pkg/runtime',
  'k8s.io/apimachinery/pkg/util/intstr',
  'k8s.io/apimachinery/pkg/version',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1',
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1',
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1',
]

/**
 * Runs upstream's OpenAPI generator on the pinned modules and then our program over its result and the Go types. What
 * the generator writes holds upstream's prose: it stays in a temporary directory.
 */
export function collectFacts(source: string): Facts {
  const directory = mkdtempSync(join(tmpdir(), 'gen-api-'))
  try {
    cpSync(source, directory, { recursive: true })
    const go = (...args: string[]): string =>
      execFileSync('go', args, { cwd: directory, encoding: 'utf8', maxBuffer: 1 << 28 })
    const api = go('list', '-m', '-f', '{{.Dir}}', 'k8s.io/api').trim()
    mkdirSync(join(directory, 'openapi'))
    writeFileSync(join(directory, 'header.txt'), '')
    go(
      'run',
      'k8s.io/kube-openapi/cmd/openapi-gen',
      ...['--go-header-file', 'header.txt', '--output-dir', 'openapi', '--output-file', 'zz.go'],
      ...['--output-pkg', 'coxswain.dev/gen-api/openapi', '--report-filename', 'report.txt'],
      ...apiPackages(api),
      ...otherPackages,
    )
    return JSON.parse(go('run', '.')) as Facts
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function apiPackages(api: string): string[] {
  return readdirSync(api, { withFileTypes: true })
    .filter(group => group.isDirectory() && group.name !== 'testdata')
    .flatMap(group =>
      readdirSync(join(api, group.name), { withFileTypes: true })
        .filter(version => version.isDirectory() && /^v\d/.test(version.name))
        .map(version => `k8s.io/api/${group.name}/${version.name}`),
    )
}
