import { checkAlerts, checkCommands, checkEndpoints, checkForwarded, checkNode } from './check-facts.ts';
import { checkInvariants } from './check-invariants.ts';
import { checkBot, checkCompilers, checkPackages } from './check-packages.ts';
import { checkFolders, checkLength, checkLinks, checkNamedPages, checkShelves } from './check-pages.ts';
import { checkPromises, checkPromiseTests } from './check-promises.ts';
import { checkComments, checkWords } from './check-words.ts';
import type { Check } from './project.ts';

/** Every check of documents, by what it shows. */
export const CHECKS: Readonly<Record<string, Check>> = {
  'pages are short enough': checkLength,
  'each folder has a README that says what it may import': checkFolders,
  'each page of docs/ lies on a shelf': checkShelves,
  'links lead somewhere': checkLinks,
  'pages that code names exist': checkNamedPages,
  'each alert has its line in operate.md': checkAlerts,
  'endpoints of the README exist': checkEndpoints,
  'a balancer forwards all that is public': checkForwarded,
  'commands exist': checkCommands,
  'pages name the Node of package.json': checkNode,
  'words of docs/style.md are not used': checkWords,
  'comments are no wider than code': checkComments,
  'what pages promise without exception is in test/documents/promises.ts': checkPromises,
  'each promise is in its page, and its test exists': checkPromiseTests,
  'each invariant has a mutation that fits, and a test': checkInvariants,
  'packages are few, and have their reasons': checkPackages,
  'compilers have their versions': checkCompilers,
  'the dependency bot knows its packages': checkBot,
};
