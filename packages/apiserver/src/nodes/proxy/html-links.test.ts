import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readBody } from '@coxswain/wire'
import { rewriteLinks } from './html-links.ts'
import { rewriteUrl } from './rewrite-url.ts'

const rule = { prefix: '/api/v1/p/proxy', backendHost: '10.1.1.1:80', requestHost: 'api.example:6443' }

async function rewrite(page: string, chunkSize = Number.POSITIVE_INFINITY): Promise<string> {
  const bytes = new TextEncoder().encode(page)
  const chunks = (async function* () {
    const size = Math.min(chunkSize, bytes.length || 1)
    for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
  })()
  const body = rewriteLinks(chunks, url => rewriteUrl(url, rule))
  return new TextDecoder().decode(await readBody(body))
}

describe('URLs of responses', () => {
  it('lead through the proxy again when they are those of the backend', () => {
    const cases: Readonly<Record<string, string>> = {
      '/x': '/api/v1/p/proxy/x',
      '/': '/api/v1/p/proxy/',
      '/x/?a=/b#c': '/api/v1/p/proxy/x/?a=/b#c',
      '/../x': '/api/v1/p/proxy/x',
      'http://10.1.1.1:80/x': '/api/v1/p/proxy/x',
      '//10.1.1.1:80/x': '/api/v1/p/proxy/x',
      'https://api.example:6443/x': 'https://api.example:6443/api/v1/p/proxy/x',
      '/api/v1/p/proxy/x': '/api/v1/p/proxy/x',
      'http://10.1.1.1:80/api/v1/p/proxy/x': '/api/v1/p/proxy/x',
      x: 'x',
      '../x': '../x',
      '?a': '?a',
      '#a': '#a',
      '': '',
      'http://elsewhere.example/x': 'http://elsewhere.example/x',
      '//elsewhere.example/x': '//elsewhere.example/x',
      'http://10.1.1.1:80': 'http://10.1.1.1:80',
      'mailto:a@b': 'mailto:a@b',
      'javascript:/x': 'javascript:/x',
      'data:text/html,/x': 'data:text/html,/x',
    }
    for (const [url, expected] of Object.entries(cases)) assert.equal(rewriteUrl(url, rule), expected, url)
  })
})

const before = [
  '<!DOCTYPE html><html manifest="/m"><head><link rel=icon href=/i.png>',
  '<script src="/s.js">if (a < b) document.write("<a href=\'/no\'>")</script>',
  '<style>a[href="/no"] { background: url(/no) }</style><title><a href="/no"></title>',
  '<!-- <a href="/no"> -- > --><base target="/no" href="/">',
  "<body background='/b.png'><a class=\"/no\" HREF = '/x?a=1&amp;b=2' data-x='>'>/no é ü</a>",
  '<img alt="a > b" src="/p.png"/><a href="rel">y</a><form action="/f"><input src=/q.png></form>',
  '<textarea><a href="/no"></textarea><p cite="/no">1 < 2 <3</p><iframe src="//10.1.1.1:80/f"></iframe>',
  '<video poster="/v.png" src="http://elsewhere.example/v"></video><a href>z</a><a href="/unclosed',
].join('\n')

const after = [
  '<!DOCTYPE html><html manifest="/api/v1/p/proxy/m"><head><link rel=icon href="/api/v1/p/proxy/i.png">',
  '<script src="/api/v1/p/proxy/s.js">if (a < b) document.write("<a href=\'/no\'>")</script>',
  '<style>a[href="/no"] { background: url(/no) }</style><title><a href="/no"></title>',
  '<!-- <a href="/no"> -- > --><base target="/no" href="/api/v1/p/proxy/">',
  "<body background='/api/v1/p/proxy/b.png'><a class=\"/no\" HREF = '/api/v1/p/proxy/x?a=1&amp;b=2' data-x='>'>/no é ü</a>",
  '<img alt="a > b" src="/api/v1/p/proxy/p.png"/><a href="rel">y</a><form action="/api/v1/p/proxy/f"><input src="/api/v1/p/proxy/q.png"></form>',
  '<textarea><a href="/no"></textarea><p cite="/no">1 < 2 <3</p><iframe src="/api/v1/p/proxy/f"></iframe>',
  '<video poster="/api/v1/p/proxy/v.png" src="http://elsewhere.example/v"></video><a href>z</a><a href="/unclosed',
].join('\n')

describe('links of pages', () => {
  it('are rewritten in attributes that hold URLs, and nothing else is', async () => {
    assert.equal(await rewrite(before), after)
  })

  it('are rewritten in the same way wherever the page is cut', async () => {
    for (let size = 1; size < 40; size++)
      assert.equal(await rewrite(before, size), after, `in pieces of ${size}`)
  })

  it('cost no more when a page never closes its tag, comment or script', async () => {
    const started = process.cpuUsage().user
    for (const open of ['<a href="', '<!--', '<script>', '<', '<a '.repeat(10)]) {
      const page = `${open}${'x='.repeat(100_000)}`
      assert.equal(await rewrite(page, 64), page)
    }
    assert.ok(
      process.cpuUsage().user - started < 3_000_000,
      'every character is looked at a few times at most',
    )
  })

  it('are passed on once complete, before the rest has arrived', async () => {
    const rest = Promise.withResolvers<void>()
    const chunks = (async function* () {
      yield new TextEncoder().encode('<a href="/x">now</a><b')
      await rest.promise
      yield new TextEncoder().encode('>')
    })()
    const body = rewriteLinks(chunks, url => rewriteUrl(url, rule))
    const { value } = await body.next()
    assert.equal(new TextDecoder().decode(value as Uint8Array), '<a href="/api/v1/p/proxy/x">now</a>')
    rest.resolve()
    await body.return()
  })
})
