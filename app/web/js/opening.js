// The tags of the two events that come before a deal; both have empty content. See app/matches/opening.py.

export const KIND = 78;

/** The service's commitment to its seed. */
export const commitmentTags = ({ match, level, player, username }, commitment) => [
  ["d", match],
  ["commitment", commitment],
  ["variant", "two-player"],
  ["level", level],
  ["p", player],
  ["username", username],
];

/** What the player signs: this seed (64 hex digits), given after that commitment event (its id). */
export const statementTags = (match, commitmentEvent, commitment, clientSeed) => [
  ["d", match],
  ["e", commitmentEvent],
  ["commitment", commitment],
  ["client-seed", clientSeed],
];
