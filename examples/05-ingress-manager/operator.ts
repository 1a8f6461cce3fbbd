/** Keeps an Ingress for each Service that asks for one, and removes it again. */
import { Service } from '@coxswain/api/core/v1'
import { Ingress } from '@coxswain/api/networking/v1'
import { defineOperator, isControlledBy, newControllerReference } from 'coxswain'

/** A Service with this annotation gets an Ingress; its value is the host, or empty for one made of its name. */
export const annotation = 'ingress/http'

// Reads come from watched caches, and there are no events and no patches: listing and watching Services, and listing, watching,
// creating, updating and deleting Ingresses is all it needs.
export default defineOperator('ingress-manager', operator => {
  operator
    .controller('ingress')
    .for(Service)
    .owns(Ingress)
    .reconcile(async ({ key, client, log }) => {
      const service = await client.get(Service, key)
      const ingress = await client.get(Ingress, key)
      if (!service) return // the Ingress belongs to it and goes with it
      const isOurs = ingress !== undefined && isControlledBy(ingress, service)
      const host = service.metadata.annotations?.[annotation]
      const port = service.spec?.ports?.[0]?.port
      const isWanted = host !== undefined && port !== undefined && !service.metadata.deletionTimestamp

      if (!isWanted) {
        if (isOurs && !ingress.metadata.deletionTimestamp) await client.delete(Ingress, key)
        return
      }
      if (ingress && !isOurs) {
        log.warn('there is an Ingress of that name that is not ours', { ...key })
        return
      }
      const backend = { service: { name: key.name, port: { number: port } } }
      const paths = [{ path: '/', pathType: 'Prefix' as const, backend }]
      const spec = { rules: [{ host: host === '' ? `${key.name}.example.com` : host, http: { paths } }] }
      if (!ingress) {
        const metadata = { ...key, ownerReferences: [newControllerReference(service)] }
        await client.create(Ingress, { metadata, spec })
        return
      }
      const { ingressClassName } = ingress.spec ?? {} // the class is the user's or the cluster's choice
      if (JSON.stringify(ingress.spec?.rules) === JSON.stringify(spec.rules)) return
      await client.update(Ingress, {
        ...ingress,
        spec: { ...(ingressClassName && { ingressClassName }), ...spec },
      })
    })
})
