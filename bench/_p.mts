import { compileSchema } from '@coxswain/apimachinery'
import { Deployment } from '@coxswain/api/apps/v1'
import { typicalDeployment } from './apimachinery/deployment.ts'
const text=JSON.stringify(typicalDeployment()); const c=compileSchema(Deployment.schema())
function t(name,f,rounds=9){ const out=[]; for(let r=0;r<rounds;r++){ const vals=Array.from({length:2000},()=>JSON.parse(text)); const s=performance.now(); for(let i=0;i<2000;i++) f(vals[i]); out.push((performance.now()-s)*1000/2000) } out.sort((a,b)=>a-b); console.log(name.padEnd(20),out[out.length>>1].toFixed(1),'min',out[0].toFixed(1)) }
t('parse',()=>JSON.parse(text))
t('prune',v=>c.prune(v))
t('defaults',v=>c.applyDefaults(v))
t('validateValue',v=>c.validateValue(v))
t('listTypes',v=>c.validateListTypes(v))
t('all',v=>{c.prune(v);c.applyDefaults(v);c.validate(v)})
let n=0,k=0;(function w(v){ if(Array.isArray(v)){n++;v.forEach(w)} else if(v&&typeof v==='object'){n++;for(const x in v){k++;w(v[x])}}})(JSON.parse(text)); console.log({containers:n,keys:k})
