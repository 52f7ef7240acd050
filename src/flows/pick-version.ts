// Which stored version of a workflow a person means by a hash or by its beginning.

import type { Definition } from '../../libs/store/index.js';
import { checkString } from '../check-argument.js';
import { InvalidArgumentError } from '../errors.js';

const SHORTEST_BEGINNING = 7;

/** The version with this hash, or with this unique beginning of one; `path` names the argument. */
export function pickVersion(versions: readonly Definition[], name: string, given: unknown, path: string): Definition {
  const wanted = checkString(given, path, 64, 'RHYTHM_OPTION_INVALID');
  const isMeant = ({ version }: Definition) => version === wanted || (wanted.length >= SHORTEST_BEGINNING && version.startsWith(wanted));
  const [found, ...others] = versions.filter(isMeant);
  if (found && others.length === 0) return found;
  throw new InvalidArgumentError(
    'RHYTHM_UNKNOWN_VERSION',
    path,
    `${found ? 'More than one version' : 'No version'} of workflow "${name}" matches "${wanted}". Versions in the database, current first: ${versions.map(({ version }) => version.slice(0, 12)).join(', ')}.`,
  );
}
