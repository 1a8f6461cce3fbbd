import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pluralOf } from './plural.ts'

/** Answers of gobuffalo/flect 1.0.3, which controller-gen and kubebuilder ask; without a colon, an `s` is appended. */
const answers = `
redis:redis status:statuses bus:buses class:classes kubernetes:kubernetes proxy:proxies
ingress:ingresses endpoints:endpoints address:addresses gas:gas series:series lens:lens atlas:atlas
cronjob policy:policies key box:boxes buzz:buzzes church:churches dish:dishes quiz:quizzes
matrix:matrices index:indices virus:viruses campus:campuses nexus:nexuses hero:heroes photo
leaf:leaves wife:wives life:lives knife:knives shelf:shelves person:people child:children foot:feet
goose:geese mouse:mice datum:data criterion:criteria analysis:analyses basis:bases crisis:crises
axis:axes test query:queries gateway day toy prometheus:prometheuses canvas:canvas process:processes
access:accesses business:businesses tls:tls nats:nats keys:keys pods:pods data:data
media:media schema sheep:sheep fish:fish deer:deer equipment:equipment information:information
money:money species:species staff police:police roof chief belief potato:potatoes tomato:tomatoes
echo:echoes video:videoes radio piano alumnus:alumni cactus:cacti focus:foci nucleus:nuclei
radius:radii syllabus:syllabi appendix:appendices vertex:vertices phenomenon:phenomena
memorandum:memoranda bacterium:bacteria medium:media bison:bison grpc tcproute httproute s3 sns:sns
sqs:sqs rds:rds eks:eks ecs:ecs aws:aws memcached memcacheds:memcacheds human dnsindex:dnsindices
configmatrix:configmatrices networkstatus:networkstatuses userperson:userpeople
nodechild:nodechildren backupdata:backupdata podmouse:podmice snapshotanalysis:snapshotanalyses
serverless:serverlesses database releases:releases backups:backups kafkabus:kafkabuses
smallbox:smallboxes proxyclass:proxyclasses gatewayclass:gatewayclasses storagealias:storagealias
networkpolicy:networkpolicies apikey multiquiz:multiquizzes houseleaf:houseleaves
bookshelf:bookshelves penknife:penknives superhero:superheroes myvideo:myvideoes
audioecho:audioechoes proof brief oasis:oases thesis:theses hypothesis:hypotheses emphasis:emphasis
synopsis:synopses diagnosis:diagnoses parenthesis:parentheses prognosis:prognoses tennis:tennis
chassis:chassis iris:iris debris:debris corpus:corpora genus:genera bonus:bonuses census:censuses
circus:circuses consensus:consensuses plus:pluses apparatus:apparatuses cpus:cpuses ios:ios
chaos:chaos css:csses compass:compasses glass:glasses loss:losses stress:stresses rediscluster
elasticsearch:elasticsearches logstash:logstashes gitops:gitops devops:devops canary:canaries
captain workspace loadtest sandbox:sandboxes mutex:mutexes prefix:prefixes suffix:suffixes
cortex:cortexes helix:helices phoenix:phoenixes linux:linuxes nginx:nginxes unix:unixes
switch:switches branch:branches batch:batches cache hash:hashes mesh:meshes graphql quota config
secret volume snapshot backup restore schedule tenant user team project environment release
deployment cluster machine machineset machinepool nodepool identity:identities authority:authorities
capability:capabilities activity:activities facility:facilities entity:entities facade bay array
relay survey journey volley buoy guy ally:allies
`

describe('the plural of a kind', () => {
  it("is controller-gen's", () => {
    for (const answer of answers.trim().split(/\s+/)) {
      const [singular = '', plural = `${singular}s`] = answer.split(':')
      assert.equal(pluralOf(singular), plural)
    }
  })
})
