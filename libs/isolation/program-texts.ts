// Which programs each process has: each is sent once, and the one that was used longest ago is forgotten.

const MOST_PROGRAMS = 50;

/** What to send along with a turn. */
export interface ProgramToSend {
  /** Absent when the process has it. */
  text: string | undefined;
  forget: string[];
}

export class ProgramTexts<Holder extends object> {
  private readonly held = new Map<Holder, Set<string>>();

  toSend(holder: Holder, { key, text }: { key: string; text: string }): ProgramToSend {
    const held = this.held.get(holder) ?? new Set<string>();
    this.held.set(holder, held);
    const isThere = held.delete(key);
    held.add(key);
    const forget = [...held].slice(0, Math.max(0, held.size - MOST_PROGRAMS));
    for (const old of forget) held.delete(old);
    return { text: isThere ? undefined : text, forget };
  }

  forget(holder: Holder): void {
    this.held.delete(holder);
  }
}
