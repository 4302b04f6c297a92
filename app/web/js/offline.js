// The service worker of /play: keeps the page and its files, so that practice needs no network once it was visited.
// It keeps nothing else, no answer of the API above all.

const { page, files, version } = self.kept; // the server writes it before this script
const PREFIX = `briscola ${page} `;
const NAME = PREFIX + version;
const PATIENCE_MS = 4_000; // with a network that is hardly there

self.addEventListener("install", (event) => {
  self.skipWaiting(); // a page that is open already has all it needs
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll([page, ...files])));
});

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== self.location.origin) return;
  if (pathname === page) event.respondWith(newest(event.request));
  else if (files.includes(pathname)) event.respondWith(kept(pathname).then((file) => file ?? fetch(event.request)));
});

async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== NAME);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** The page as the server has it; as it is kept if none answers well, and soon. */
async function newest(request) {
  const coming = fetch(request);
  const late = new Promise((resume) => setTimeout(resume, PATIENCE_MS));
  const answer = await Promise.race([coming, late]).catch(() => undefined);
  return answer?.status < 500 ? answer : ((await kept(page)) ?? coming);
}

/** What is kept under a path; a file is the same wherever it comes from, for its name has its hash. */
const kept = (path) => caches.match(path, { cacheName: NAME, ignoreVary: true });
