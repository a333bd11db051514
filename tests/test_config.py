"""What a config takes, what it refuses and in which words; and the presets."""

import math
import pickle

import pytest

from gpt_viz.config import (
    FIELD_TYPES,
    LARGEST_SEED,
    PRESETS,
    ConfigError,
    GPTConfig,
    check_seed,
    label,
    parse_setting,
    preset,
    preset_of,
)


def refused(**settings):
    with pytest.raises(ConfigError) as caught:
        GPTConfig(**settings)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    assert "\n" not in message
    return caught.value.field, message


def test_a01_a_width_that_the_heads_do_not_divide_names_both_and_what_would_do():
    field, message = refused(width=10, heads=3)
    assert field == "heads"
    assert message == "width 10 is not divisible by 3 heads; try 1, 2, 5, 10 heads, or width 9 or 12"
    _, message = refused(width=12, heads=5)
    assert message == "width 12 is not divisible by 5 heads; try 1, 2, 3, 4, 6, 12 heads, or width 10 or 15"
    _, message = refused(width=2, heads=5)
    assert message.endswith("or width 5")


def test_a01_swapped_layers_and_heads_of_gpt2_xl_are_named():
    _, message = refused(width=1600, heads=48)
    assert "1600" in message
    assert "48" in message
    assert " 50," in message
    assert message.count(",") <= 8  # a width of many divisors names only the nearest


def test_a01_the_suggestions_work():
    for width, heads in ((10, 3), (130, 4), (2**20 - 1, 2**19 + 1)):
        _, message = refused(width=width, heads=heads)
        for suggestion in message.split("try ")[1].split(" heads")[0].split(", "):
            GPTConfig(width=width, heads=int(suggestion))


def test_a02_zero_layers_are_a_config():
    assert GPTConfig(layers=0).layers == 0


@pytest.mark.parametrize(
    ("setting", "value", "shown", "limits"),
    [
        ("block_size", -1, "block size -1", "from 1 to 16,777,216"),
        ("block_size", 0, "block size 0", "from 1 to 16,777,216"),
        ("layers", -2, "layers -2", "from 0 to 10,000"),
        ("layers", 10_001, "layers 10,001", "from 0 to 10,000"),
        ("heads", 0, "heads 0", "from 1 to 1,048,576"),
        ("width", 0, "width 0", "from 1 to 1,048,576"),
        ("vocabulary", 0, "vocabulary 0", "from 1 to 16,777,216"),
        ("dropout", -0.1, "dropout -0.1", "from 0 to 1"),
        ("dropout", 1.5, "dropout 1.5", "from 0 to 1"),
        ("dropout", math.nan, "dropout nan", "from 0 to 1"),
        ("dropout", math.inf, "dropout inf", "from 0 to 1"),
    ],
)
def test_a03_nonsense_sizes_name_the_setting_the_value_and_the_range(setting, value, shown, limits):
    field, message = refused(**{setting: value})
    assert field == setting
    assert message.startswith(shown)
    assert limits in message


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("layers", 2.0), ("layers", "2"), ("layers", True), ("width", None), ("dropout", "0.1"), ("dropout", True),
        ("bias", 1), ("tied_head", "yes"), ("gelu", "relu"), ("initialisation", ""), ("scale", "add"),
    ],
)  # fmt: skip
def test_a03_values_of_another_type_or_name_are_refused_at_their_setting(setting, value):
    field, message = refused(**{setting: value})
    assert field == setting
    assert message.startswith(label(setting))


def test_a03_a_dropout_of_one_is_allowed():
    assert GPTConfig(dropout=1.0).dropout == 1.0
    assert GPTConfig(dropout=0) == GPTConfig()


def test_a05_a_vocabulary_of_one_is_a_config():
    assert GPTConfig(vocabulary=1).vocabulary == 1


def test_a07_a_vocabulary_above_2_to_the_24_is_refused_with_the_reason():
    field, message = refused(vocabulary=2**24 + 1, width=1, heads=1, layers=1, block_size=4)
    assert field == "vocabulary"
    assert "16,777,217 is above 2^24 = 16,777,216, the most that can be sampled from" in message
    assert GPTConfig(vocabulary=2**24).vocabulary == 2**24


def test_a07_a_config_too_large_for_any_machine_can_still_be_described():
    assert GPTConfig(vocabulary=100_000, block_size=65_536, layers=96, heads=64, width=65_536).head_width == 1024


def test_settings_apply_together_whatever_their_order():
    for order in (["width=10", "heads=5"], ["heads=5", "width=10"]):
        config = GPTConfig().with_settings(order)
        assert (config.width, config.heads) == (10, 5)
    assert GPTConfig().with_settings([]) == GPTConfig()
    assert GPTConfig().with_settings(["layers=2", "layers=3"]).layers == 3
    with pytest.raises(ConfigError, match="not divisible"):
        GPTConfig().with_settings(["width=10"])


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("layers=2", ("layers", 2)),
        ("block-size = 8", ("block_size", 8)),
        ("dropout=.5", ("dropout", 0.5)),
        ("dropout=0", ("dropout", 0.0)),
        ("tied_head=true", ("tied_head", True)),
        ("tied_head=OFF", ("tied_head", False)),
        ("bias=0", ("bias", False)),
        ("gelu=tanh", ("gelu", "tanh")),
    ],
)
def test_a_setting_is_read_as_its_type(setting, expected):
    name, value = parse_setting(setting)
    assert (name, value) == expected
    assert type(value) is type(expected[1])


@pytest.mark.parametrize(
    ("setting", "field", "message"),
    [
        ("layers", "set", "'layers' is not a setting; write name=value, such as layers=2"),
        ("", "set", "'' is not a setting; write name=value, such as layers=2"),
        ("layer=2", "set", "there is no setting 'layer'; did you mean layers?"),
        ("layers=two", "layers", "layers must be a whole number, not 'two'"),
        ("layers=2.5", "layers", "layers must be a whole number, not '2.5'"),
        ("layers=", "layers", "layers must be a whole number, not ''"),
        ("dropout=lots", "dropout", "dropout must be a number, not 'lots'"),
        ("bias=maybe", "bias", "bias must be true or false, not 'maybe'"),
    ],
)
def test_a_setting_that_cannot_be_read_says_why(setting, field, message):
    with pytest.raises(ConfigError) as caught:
        parse_setting(setting)
    assert (caught.value.field, str(caught.value)) == (field, message)


def test_an_unknown_setting_like_no_other_lists_all_there_are():
    with pytest.raises(ConfigError, match="the settings are vocabulary, block_size, layers, heads"):
        parse_setting("zzz=1")


def test_a_very_long_value_does_not_make_a_very_long_sentence():
    for setting in ("layers=" + "9" * 5000, "x" * 5000, "x" * 5000 + "=1", "dropout=" + "x" * 5000):
        with pytest.raises(ConfigError) as caught:
            parse_setting(setting)
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("value", [-1, 2**63, 1.0, "0", None, True])
def test_a_seed_that_no_generator_takes_is_refused(value):
    with pytest.raises(ConfigError) as caught:
        check_seed(value)
    assert caught.value.field == "seed"


def test_numbers_of_thousands_of_digits_are_refused_in_one_short_sentence():
    huge = 10**5000
    assert refused(width=huge) == ("width", "width 2^16609 or so is out of range; it goes from 1 to 1,048,576")
    assert refused(layers=-huge) == ("layers", "layers -2^16609 or so is out of range; it goes from 0 to 10,000")
    assert refused(dropout=huge)[0] == "dropout"
    with pytest.raises(ConfigError, match="or so"):
        check_seed(huge)


def test_every_seed_up_to_2_to_the_63_is_taken():
    assert [check_seed(seed) for seed in (0, 1337, LARGEST_SEED)] == [0, 1337, 2**63 - 1]


def test_presets_have_the_sizes_of_their_models():
    sizes = {
        name: (c.vocabulary, c.block_size, c.layers, c.heads, c.width)
        for name, c in ((name, each.config) for name, each in PRESETS.items())
    }
    assert sizes == {
        "step5": (65, 64, 4, 4, 128),
        "build-gpt": (65, 128, 4, 4, 128),
        "gpt2": (50_257, 1024, 12, 12, 768),
        "gpt2-medium": (50_257, 1024, 24, 16, 1024),
        "gpt2-large": (50_257, 1024, 36, 20, 1280),
        "gpt2-xl": (50_257, 1024, 48, 25, 1600),
        "gpt3": (50_257, 2048, 96, 96, 12_288),
    }
    assert [name for name, each in PRESETS.items() if each.characters] == ["step5", "build-gpt"]
    assert all(name == each.name for name, each in PRESETS.items())


def test_a_preset_is_found_by_name_and_by_config():
    assert preset("gpt2").config == PRESETS["gpt2"].config
    assert preset_of(GPTConfig()) is PRESETS["step5"]
    assert preset_of(GPTConfig(layers=5)) is None
    with pytest.raises(ConfigError, match="no preset 'gpt4'; choose step5, build-gpt, gpt2"):
        preset("gpt4")


def test_a_config_is_frozen_hashable_and_travels():
    config = GPTConfig(layers=2)
    with pytest.raises(AttributeError):
        config.layers = 3
    assert pickle.loads(pickle.dumps(config)) == config
    assert len({config, GPTConfig(layers=2)}) == 1
    assert list(FIELD_TYPES) == [
        "vocabulary", "block_size", "layers", "heads", "width", "dropout", "qkv_bias", "bias", "head_bias",
        "tied_head", "gelu", "initialisation", "scale",
    ]  # fmt: skip
