// The wire between a browser and the daemon, which a test can cut and mend: the daemon and its sessions live on.

import { connect, createServer } from 'node:net';

/** A wire to this port. `rule` is the argument of Chromium that makes it the way there. */
export async function wire(t, port) {
  const open = new Set();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.setNoDelay();
      one.pipe(other);
      one.on('error', () => {});
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const cut = () => {
    isCut = true;
    for (const one of open) one.destroy();
  };
  t.after(() => {
    cut();
    return new Promise((closed) => server.close(closed));
  });
  return {
    cut,
    mend: () => (isCut = false),
    carries: () => open.size > 0,
    rule: `--host-resolver-rules=MAP 127.0.0.1:${port} 127.0.0.1:${server.address().port}`,
  };
}
