// Cards as SVG: the shapes are the symbols of templates/deck.html, put together here.

import { index, number } from "./card_names.js";
import { suit } from "./rules.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 100;
const HEIGHT = 150;
const COURT = { 8: "jack", 9: "queen", 10: "king" };

// Where the pips stand; those below the middle stand on their heads.
const [LEFT, MIDDLE, RIGHT] = [38, 50, 62];
const CORNERS = [[LEFT, 34], [RIGHT, 34], [LEFT, 116], [RIGHT, 116]];
const SIDES = [[LEFT, 75], [RIGHT, 75]];
const CENTRE = [MIDDLE, 75];
const PIPS = {
  2: [[MIDDLE, 35], [MIDDLE, 115]],
  3: [[MIDDLE, 35], CENTRE, [MIDDLE, 115]],
  4: CORNERS,
  5: [...CORNERS, CENTRE],
  6: [...CORNERS, ...SIDES],
  7: [...CORNERS, ...SIDES, [MIDDLE, 54]],
};

/** The picture of a card, without a name of its own. */
export function cardFace(card) {
  const picture = svg("face", suit(card));
  const corner = cornerOf(card);
  const turned = corner.cloneNode(true);
  turned.setAttribute("transform", `rotate(180 ${WIDTH / 2} ${HEIGHT / 2})`);
  picture.append(make("rect", { class: "paper", width: WIDTH, height: HEIGHT, rx: 8 }), ...middleOf(card), corner, turned);
  return picture;
}

/** The picture of a card's back. */
export function cardBack() {
  const picture = svg("back", "");
  picture.append(use("back", 0, 0, WIDTH, HEIGHT));
  return picture;
}

function cornerOf(card) {
  const corner = make("g", {});
  const text = make("text", { x: 13, y: 26, "text-anchor": "middle", "font-size": 27 });
  text.textContent = index(card);
  corner.append(text, pip(suit(card), 13, 39, 17));
  return corner;
}

function middleOf(card) {
  const name = number(card);
  if (name === 1) return [make("circle", { class: "halo", cx: 50, cy: 75, r: 31 }), pip(suit(card), 50, 75, 44)];
  if (name in COURT) return courtOf(card, COURT[name]);
  return PIPS[name].map(([x, y]) => {
    const mark = pip(suit(card), x, y, 21);
    if (y > HEIGHT / 2) mark.setAttribute("transform", `rotate(180 ${x} ${y})`);
    return mark;
  });
}

/** A figure of two halves, the second turned about the middle. */
function courtOf(card, figure) {
  const frame = { x: 26, y: 14, width: 48, height: 122, rx: 4 };
  const half = make("g", {});
  half.append(use(figure, 26, 14, 48, 61), pip(suit(card), 35, 24, 13));
  const turned = half.cloneNode(true);
  turned.setAttribute("transform", `rotate(180 ${WIDTH / 2} ${HEIGHT / 2})`);
  return [make("rect", { class: "ground", ...frame }), half, turned, make("rect", { class: "frame", ...frame })];
}

const pip = (letter, x, y, size) => use(`suit-${letter}`, x - size / 2, y - size / 2, size, size);
const use = (id, x, y, width, height) => make("use", { href: `#${id}`, x, y, width, height });

function svg(kind, letter) {
  return make("svg", { class: kind, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "data-suit": letter, "aria-hidden": "true" });
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
