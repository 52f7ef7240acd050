// The user that PostgreSQL runs as: it refuses root, so root starts it as an unprivileged user.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EmbeddedPostgresError, OR_OWN_SERVER } from './embedded-error.js';

export interface RunAs {
  uid: number;
  gid: number;
}

/** The user for PostgreSQL's processes, or undefined when the current one will do. Existing data keeps its owner. */
export function chooseUser(dataFolder?: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = dataFolder && statSync(dataFolder, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  // initdb looks its user up by name, so a number without an entry would not do.
  const users = readUsers();
  const user = users.find((u) => u.name === 'postgres') ?? users.find((u) => u.name === 'nobody') ?? users.find((u) => u.uid > 0);
  if (user) return { uid: user.uid, gid: user.gid };
  throw new EmbeddedPostgresError(
    'RHYTHM_EMBEDDED_USER',
    `PostgreSQL does not run as root and this system has no other user to run it as. Add one (useradd postgres). ${OR_OWN_SERVER}`,
  );
}

/** Whether this user can reach the path, by the permission bits of every folder on the way. Assumed for the current user. */
export function canReach(path: string, user: RunAs | undefined): boolean {
  if (!user) return true;
  for (let at = resolve(path); ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
    if (((mode >> shift) & 1) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

function readUsers(): (RunAs & { name: string })[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length > 3)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
