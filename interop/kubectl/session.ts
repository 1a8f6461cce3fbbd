import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRealRandom } from '@coxswain/kit'
import { createCertificate } from '@coxswain/wire/node'
import type { Outcome } from '../support/coxswain.ts'
import { eventually } from '../support/eventually.ts'
import { createKubectl, type Kubectl, type KubectlVersion } from '../support/kubectl.ts'

/** The whole output without the white space around it, or a pattern that must match. */
export type Expected = string | RegExp

/** A program whose commands are expected to end in one way. Words of a command in single quotes hold together. */
export interface Expectations {
  /** The command succeeds and standard output is as expected. */
  ok(command: string, ...expected: Expected[]): Promise<string>
  /** The command fails and standard error is as expected. */
  fails(command: string, ...expected: Expected[]): Promise<Outcome>
  /** The command is run again and again until it is `ok`: for what a controller does meanwhile. */
  until(command: string, ...expected: Expected[]): Promise<string>
}

/** One kubectl, in a namespace of its own. */
export interface Session extends Expectations, Disposable {
  readonly namespace: string
  readonly kubeconfig: string
  /** A directory of its own with `tls.crt` and `tls.key`; it goes with the session. */
  readonly directory: string
  readonly kubectl: Kubectl
  /** `kubectl edit` with this sed script as the editor. */
  edit(script: string, command: string, expected: Expected): Promise<void>
}

export const manifests: string = 'interop/kubectl/manifests'

export async function createSession(
  target: { readonly kubeconfig: string },
  version: KubectlVersion,
  namespace: string,
): Promise<Session> {
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-'))
  const kubeconfig = join(directory, 'kubeconfig')
  copyFileSync(target.kubeconfig, kubeconfig)
  const validity = { notBefore: Date.parse('2026-01-01'), notAfter: Date.parse('2046-01-01') }
  const { certificate, key } = createCertificate(
    {
      subject: { commonName: 'ship.example.com' },
      usages: ['server'],
      hosts: ['ship.example.com'],
      ...validity,
    },
    createRealRandom(),
  )
  writeFileSync(join(directory, 'tls.crt'), certificate)
  writeFileSync(join(directory, 'tls.key'), key)
  // A home of its own: what kubectl remembers about a server may be out of date for the next session.
  const home = { HOME: directory }
  const kubectl = createKubectl(version, kubeconfig, home)

  const session: Session = {
    namespace,
    kubeconfig,
    directory,
    kubectl,
    ...expecting('kubectl', kubectl),
    async edit(script, command, expected) {
      const editing = createKubectl(version, kubeconfig, {
        ...home,
        KUBE_EDITOR: `sed -i ${script}`,
      })
      const { code, stdout, stderr } = await editing(...words(command))
      assert.equal(code, 0, `kubectl ${command}\n${stderr}`)
      check(`kubectl ${command}`, stdout + stderr, expected)
    },
    [Symbol.dispose]() {
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await session.ok(`create namespace ${namespace}`, `namespace/${namespace} created`)
  await session.ok(`config set-context --current --namespace=${namespace}`, /modified/)
  return session
}

/** Succeeds once pods can run in a namespace: it has its account and the server's CA. */
export const namespaceIsReady: string = 'get serviceaccount/default configmap/kube-root-ca.crt'

/** The same on a server with controllers, once pods can run. */
export async function createClusterSession(
  target: { readonly kubeconfig: string },
  version: KubectlVersion,
  namespace: string,
): Promise<Session> {
  const session = await createSession(target, version, namespace)
  await session.until(namespaceIsReady)
  return session
}

export function expecting(program: string, run: (...args: string[]) => Promise<Outcome>): Expectations {
  const ok = async (command: string, ...expected: Expected[]) => {
    const { code, stdout, stderr } = await run(...words(command))
    assert.equal(code, 0, `${program} ${command}\n${stderr}`)
    for (const one of expected) check(`${program} ${command}`, stdout, one)
    return stdout
  }
  return {
    ok,
    async fails(command, ...expected) {
      const outcome = await run(...words(command))
      assert.notEqual(outcome.code, 0, `${program} ${command} succeeded\n${outcome.stdout}`)
      for (const one of expected) check(`${program} ${command}`, outcome.stderr, one)
      return outcome
    },
    async until(command, ...expected) {
      const found = await eventually(`${program} ${command}`, async () => ({
        stdout: await ok(command, ...expected),
      }))
      return found.stdout
    },
  }
}

function check(command: string, output: string, expected: Expected): void {
  if (typeof expected === 'string') assert.equal(output.trim(), expected, command)
  else assert.match(output, expected, `${command}\nprinted what does not match ${expected}:\n${output}`)
}

function words(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''))
}

/** How kubectl reports a deletion: newer versions name the namespace. */
export function deleted(version: KubectlVersion, what: string): RegExp {
  const escaped = what.replaceAll('.', '\\.')
  return new RegExp(version === '1.20' ? `${escaped} deleted` : `${escaped} deleted from .+ namespace`)
}
