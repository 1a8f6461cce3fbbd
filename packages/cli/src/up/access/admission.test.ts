import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createAdmissionSetup } from './admission.ts'
import { readWebhookKubeconfig } from './webhook-kubeconfig.ts'

/** A file that never ends. */
const endless = '/dev/zero'
const tooLarge = /larger than 16 MiB/

function scratch(): { write(name: string, text: string): string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-admission-'))
  return {
    write(name, text) {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

const configuration = (plugin: string) =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- ${plugin}\n`
const kubeconfig = (user: string) =>
  `clusters: [{name: a, cluster: {server: "https://a"}}]\nusers: [{name: "*", user: {${user}}}]\n`

describe('the configuration of admission', () => {
  it('is read from files of bounded size, and so is all that it names', () => {
    using files = scratch()
    const setUp = (plugin: string) =>
      createAdmissionSetup({
        admissionControlConfigFile: files.write('admission.yaml', configuration(plugin)),
      })
    assert.throws(() => createAdmissionSetup({ admissionControlConfigFile: endless }), tooLarge)
    assert.throws(() => setUp(`{name: PodSecurity, path: ${endless}}`), tooLarge)
    const webhooks = (file: string) =>
      setUp(`{name: ValidatingAdmissionWebhook, configuration: {kubeConfigFile: ${file}}}`)
    assert.throws(() => webhooks(endless), tooLarge)
    for (const member of ['tokenFile', 'client-certificate', 'client-key']) {
      const { webhookAuthentication } = webhooks(
        files.write('kubeconfig', kubeconfig(`${member}: ${endless}`)),
      )
      assert.throws(() => webhookAuthentication?.('a:443', 'ValidatingAdmissionWebhook'), tooLarge)
    }
  })

  it('gives webhooks the credentials of the user that is named after their server', () => {
    using files = scratch()
    const token = files.write('token', ' secret\n')
    const file = files.write('kubeconfig', kubeconfig(`tokenFile: ${token}`))
    const plugin = `{name: ValidatingAdmissionWebhook, configuration: {kubeConfigFile: ${file}}}`
    const { webhookAuthentication } = createAdmissionSetup({
      admissionControlConfigFile: files.write('admission.yaml', configuration(plugin)),
    })
    assert.deepEqual(webhookAuthentication?.('a:443', 'ValidatingAdmissionWebhook'), { token: 'secret' })
    assert.equal(webhookAuthentication?.('a:443', 'MutatingAdmissionWebhook'), undefined)
  })
})

describe('the kubeconfig of a webhook', () => {
  const flag = 'audit-webhook-config-file'

  it('is of bounded size, and so is all that it names', () => {
    using files = scratch()
    assert.throws(() => readWebhookKubeconfig(flag, endless), tooLarge)
    for (const user of [`tokenFile: ${endless}`, `client-key: ${endless}`])
      assert.throws(() => readWebhookKubeconfig(flag, files.write('kubeconfig', kubeconfig(user))), tooLarge)
  })

  it('is named with its flag when it does not exist, or is none', () => {
    using files = scratch()
    assert.throws(() => readWebhookKubeconfig(flag, '/none'), {
      message: '--audit-webhook-config-file /none: does not exist',
    })
    const file = files.write('kubeconfig', 'kind: Pod')
    assert.throws(() => readWebhookKubeconfig(flag, file), { message: `--${flag} ${file}: has kind "Pod"` })
  })
})
