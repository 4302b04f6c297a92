from app.briscola.cards import Card
from app.briscola.game import Outcome
from app.briscola.summary import Contract, DealSummary, MatchResult

PATTA = DealSummary(1, Outcome(((0, 2), (1, 3)), (60, 60), None), (20, 30, 40, 30), None)
WON = DealSummary(2, Outcome(((0, 2), (1, 3)), (70, 50), 0), (30, 35, 40, 15), None)


def test_a_patta_counts_for_no_team_and_no_player():
    result = MatchResult.of("partnership", 0, (PATTA, WON))
    assert result.teams == ((0, 2), (1, 3))
    assert result.scores == (70, 50)
    assert result.points == (30, 35, 40, 15)
    assert result.deals == (PATTA, WON)


def test_points_of_deals_add_up():
    other = DealSummary(3, Outcome(((0, 2), (1, 3)), (58, 62), 1), (29, 32, 29, 30), None)
    result = MatchResult.of("partnership", 0, (WON, other))
    assert result.scores == (128, 112)
    assert result.points == (59, 67, 69, 45)


def test_the_summary_as_json():
    deal = DealSummary(
        dealer=0,
        outcome=Outcome(((0, 3), (1, 2, 4)), (82, 38), 0),
        points=(40, 27, 0, 42, 11),
        contract=Contract(0, Card.D2, 70),
    )
    assert MatchResult.of("chiamata", 0, (deal,)).summary == {
        "variant": "chiamata",
        "teams": [[0, 3], [1, 2, 4]],
        "winner": 0,
        "scores": [82, 38],
        "points": [40, 27, 0, 42, 11],
        "deals": [
            {
                "dealer": 0,
                "sides": [[0, 3], [1, 2, 4]],
                "side_points": [82, 38],
                "winner": 0,
                "patta": False,
                "points": [40, 27, 0, 42, 11],
                "contract": {"caller": 0, "called": "D2", "target": 70},
            }
        ],
    }


def test_a_deal_without_a_contract():
    told = PATTA.to_json()
    assert (told["patta"], told["winner"], told["contract"]) == (True, None, None)
