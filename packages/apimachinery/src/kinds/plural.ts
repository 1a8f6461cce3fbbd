import { maxOf } from '@coxswain/kit'

/**
 * The plural of a kind as controller-gen and kubebuilder have it, so that a CRD keeps its name when an operator moves here. Endings are
 * compared from the longest to the shortest. What ends in `s` otherwise is taken for a plural already: `redis`, `kubernetes`.
 */
export function pluralOf(singular: string): string {
  for (let length = Math.min(longest, singular.length); length > 0; length--) {
    const ending = singular.slice(-length)
    const plural = endings.get(ending)
    if (plural !== undefined) return singular.slice(0, -length) + plural
  }
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return singular.endsWith('s') ? singular : `${singular}s`
}

const wholeWords = 'data media equipment information money sheep fish deer police bison'

const changed: Readonly<Record<string, string>> = {
  ss: 'sses',
  us: 'uses',
  x: 'xes',
  z: 'zes',
  ch: 'ches',
  sh: 'shes',
  quiz: 'quizzes',
  // Latin and Greek
  alumnus: 'alumni',
  cactus: 'cacti',
  focus: 'foci',
  nucleus: 'nuclei',
  radius: 'radii',
  syllabus: 'syllabi',
  corpus: 'corpora',
  genus: 'genera',
  index: 'indices',
  vertex: 'vertices',
  matrix: 'matrices',
  appendix: 'appendices',
  helix: 'helices',
  datum: 'data',
  memorandum: 'memoranda',
  bacterium: 'bacteria',
  medium: 'media',
  criterion: 'criteria',
  phenomenon: 'phenomena',
  analysis: 'analyses',
  basis: 'bases',
  crisis: 'crises',
  axis: 'axes',
  oasis: 'oases',
  thesis: 'theses',
  synopsis: 'synopses',
  gnosis: 'gnoses',
  // English
  person: 'people',
  child: 'children',
  foot: 'feet',
  goose: 'geese',
  mouse: 'mice',
  leaf: 'leaves',
  shelf: 'shelves',
  wife: 'wives',
  life: 'lives',
  knife: 'knives',
  hero: 'heroes',
  potato: 'potatoes',
  tomato: 'tomatoes',
  echo: 'echoes',
  video: 'videoes',
}

const endings: ReadonlyMap<string, string> = new Map([
  ...wholeWords.split(' ').map(word => [word, word] as const),
  ...Object.entries(changed),
])
const longest = maxOf([...endings.keys()].map(ending => ending.length))
