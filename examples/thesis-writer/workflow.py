from typing import Any

from valkyr import modules, repeat, variables, workflow


@workflow(
    "thesis-writer",
    description="Plan a thesis with a language model and write it chapter by chapter, each until it is good.",
    input={
        "type": "object",
        "required": ["topic"],
        "properties": {
            "topic": {"type": "string", "minLength": 3, "maxLength": 300},
            "language": {"type": "string", "default": "English"},
            "degree": {"type": "string", "enum": ["bachelor", "master", "doctorate"]},
            "format": {"type": "string", "enum": ["monograph", "articles"]},
            "discipline": {"type": "string"},
            "granularity": {"type": "integer", "minimum": 1, "maximum": 8},
            "pages": {"type": "integer", "minimum": 1, "maximum": 200},
            "citationStyle": {"type": "string"},
            "minSources": {"type": "integer", "minimum": 0, "maximum": 20},
            "changes": {"type": "array", "items": {"type": "string"}},
            "model": {"type": "string"},
            "baseUrl": {"type": ["string", "null"]},
        },
        "additionalProperties": False,
    },
    timeout=7200,
)
def thesis_writer(payload: Any) -> Any:
    variable = variables(
        thesis_topic="",
        thesis_language="English",
        thesis_degree="master",
        thesis_format="monograph",
        discipline_hint="",
        granularity_target=3,
        target_length_pages=12,
        citation_style="APA",
        min_sources_per_subsection=2,
        loop_idx=0,
        chapter_idx=0,
        subsection_idx=0,
        axes_count=0,
        chapters_count=0,
        subsections_count=0,
        gaps_found=0,
        requirements={},
        seed_axes=[],
        kb_map=[],
        macro_outline={},
        micro_outline=[],
        coverage=[],
        chapters_list=[],
        subsections_list=[],
        user_changes=[],
        patch_actions=[],
        exports={"chapters": [], "path": ""},
    )
    configure = variable.set(
        thesis_topic="{{ input.topic }}",
        thesis_language="{{ input.language | default('English') }}",
        thesis_degree="{{ input.degree | default('master') }}",
        thesis_format="{{ input.format | default('monograph') }}",
        discipline_hint="{{ input.discipline | default('the discipline the topic belongs to') }}",
        granularity_target="{{ input.granularity | default(3) }}",
        target_length_pages="{{ input.pages | default(12) }}",
        citation_style="{{ input.citationStyle | default('APA') }}",
        min_sources_per_subsection="{{ input.minSources | default(2) }}",
        user_changes="{{ input.changes | default([]) }}",
    )
    understand = modules.llm.extract.options(credential="llm")(
        model="{{ input.model | default('gpt-4o-mini') }}",
        baseUrl="{{ input.baseUrl | default(none) }}",
        system="You supervise theses in {{ vars.discipline_hint }}. You are strict about what can be researched within a {{ vars.thesis_degree }}'s thesis. Write in {{ vars.thesis_language }}.",
        messages="""\
Narrow this topic to one question that a {{ vars.thesis_degree }}'s thesis
({{ vars.thesis_format }}, {{ vars.target_length_pages }} pages) can answer, and name the
two to four axes along which it is to be researched. Heed these wishes, if any:
{{ vars.user_changes | join('; ') or 'none' }}.
Topic: {{ vars.thesis_topic }}""",
        schema={
            "type": "object",
            "required": ["requirements", "seed_axes"],
            "properties": {
                "requirements": {
                    "type": "object",
                    "required": ["question", "method", "audience"],
                    "properties": {
                        "question": {
                            "type": "string",
                            "description": "One question",
                            "answerable within the thesis.": None,
                        },
                        "method": {
                            "type": "string",
                            "description": "How the question will be answered.",
                        },
                        "audience": {"type": "string"},
                    },
                },
                "seed_axes": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 4,
                    "items": {
                        "type": "object",
                        "required": ["title", "question"],
                        "properties": {"title": {"type": "string"}, "question": {"type": "string"}},
                    },
                },
            },
        },
    )
    note_axes = variable.set_with(id="note-axes")(
        requirements="{{ tasks.understand.output.data.requirements }}",
        seed_axes="{{ tasks.understand.output.data.seed_axes }}",
        axes_count="{{ tasks.understand.output.data.seed_axes | length }}",
    )
    map_knowledge = modules.llm.extract.options(id="map-knowledge", credential="llm")(
        model="{{ input.model | default('gpt-4o-mini') }}",
        baseUrl="{{ input.baseUrl | default(none) }}",
        system="You know the literature of {{ vars.discipline_hint }}. You never invent a source: you name the kind of source that is wanted, and the author later finds and checks it.",
        messages="""\
For each axis say what is held to be known, and which sources are wanted for it: at least
{{ vars.min_sources_per_subsection }} kinds. Then name the gaps: what nobody seems to have
shown.
Topic: {{ vars.thesis_topic }}
Question: {{ vars.requirements.question }}
Axes: {{ vars.seed_axes | map(attribute='title') | join('; ') }}""",
        schema={
            "type": "object",
            "required": ["kb_map", "gaps"],
            "properties": {
                "kb_map": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["axis", "claims", "sources_wanted"],
                        "properties": {
                            "axis": {"type": "string"},
                            "claims": {"type": "array", "items": {"type": "string"}},
                            "sources_wanted": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
                "gaps": {"type": "array", "items": {"type": "string"}},
            },
        },
    )
    note_knowledge = variable.set_with(id="note-knowledge")(
        kb_map="{{ tasks['map-knowledge'].output.data.kb_map }}",
        gaps_found="{{ tasks['map-knowledge'].output.data.gaps | length }}",
    )
    outline = modules.llm.extract.options(credential="llm")(
        model="{{ input.model | default('gpt-4o-mini') }}",
        baseUrl="{{ input.baseUrl | default(none) }}",
        system="You plan theses so that every chapter answers a part of the question and none repeats another. Write in {{ vars.thesis_language }}.",
        messages="""\
Outline the thesis in {{ vars.granularity_target }} chapters. Each has a purpose, two to
four subsections, and three to six keywords that its text must use.
Topic: {{ vars.thesis_topic }}
Question: {{ vars.requirements.question }}
Method: {{ vars.requirements.method }}
Known: {{ vars.kb_map | map(attribute='claims') | map('join', '; ') | join('; ') }}
Gaps: {{ tasks['map-knowledge'].output.data.gaps | join('; ') }}""",
        schema={
            "type": "object",
            "required": ["title", "chapters"],
            "properties": {
                "title": {"type": "string"},
                "chapters": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 12,
                    "items": {
                        "type": "object",
                        "required": ["title", "purpose", "keywords", "subsections"],
                        "properties": {
                            "title": {"type": "string"},
                            "purpose": {"type": "string"},
                            "keywords": {
                                "type": "array",
                                "minItems": 1,
                                "maxItems": 8,
                                "items": {"type": "string"},
                            },
                            "subsections": {
                                "type": "array",
                                "minItems": 1,
                                "maxItems": 6,
                                "items": {"type": "string"},
                            },
                        },
                    },
                },
            },
        },
    )
    subsections = modules.data.jmespath(
        expression="chapters[].subsections[]",
        data="{{ tasks.outline.output.data }}",
    )
    note_outline = variable.set_with(id="note-outline")(
        macro_outline="{{ tasks.outline.output.data }}",
        micro_outline="{{ tasks.outline.output.data.chapters | map(attribute='subsections') | list }}",
        chapters_list="{{ tasks.outline.output.data.chapters | map(attribute='title') | list }}",
        chapters_count="{{ tasks.outline.output.data.chapters | length }}",
        subsections_list="{{ tasks.subsections.output }}",
        subsections_count="{{ tasks.subsections.output | length }}",
    )
    with repeat(count="{{ vars.chapters_count }}") as chapters:
        begin = variable.set(chapter_idx="{{ loop.index }}", loop_idx=0)
        with repeat(at_most=3) as write:
            draft = modules.llm.chat.options(credential="llm")(
                model="{{ input.model | default('gpt-4o-mini') }}",
                baseUrl="{{ input.baseUrl | default(none) }}",
                temperature=0.7,
                system="You write a {{ vars.thesis_degree }}'s thesis in {{ vars.discipline_hint }}, in {{ vars.thesis_language }}: plain sentences, one thought a paragraph, Markdown headings for subsections. Where a source is needed write [source: what kind], in the manner of {{ vars.citation_style }}, at least {{ vars.min_sources_per_subsection }} a subsection; never invent one.",
                messages="""\
{{ 'Improve this draft of a chapter; keep what is good and mend what is told.'
   if loop.index else 'Write this chapter, in full and nothing else.' }}
Thesis: {{ vars.macro_outline.title }}
Question: {{ vars.requirements.question }}
Chapter: {{ vars.macro_outline.chapters[vars.chapter_idx].title }}
Purpose: {{ vars.macro_outline.chapters[vars.chapter_idx].purpose }}
Subsections: {{ vars.micro_outline[vars.chapter_idx] | join('; ') }}
Keywords: {{ vars.macro_outline.chapters[vars.chapter_idx].keywords | join(', ') }}
Words: {{ (vars.target_length_pages * 300 / vars.chapters_count) | int }}
Other chapters: {{ vars.chapters_list | join('; ') }}
Mend: {{ loop.previous.assess.dimensions.values() | map(attribute='reason') | join('; ')
   if loop.index else 'nothing yet' }}

{{ loop.previous.draft.text if loop.index else '' }}""",
            )
            assess = modules.quality.assess(
                text="{{ tasks.draft.output.text }}",
                keywords="{{ vars.macro_outline.chapters[vars.chapter_idx].keywords }}",
                targetWords="{{ (vars.target_length_pages * 300 / vars.chapters_count) | int }}",
            )
            write.until("{{ tasks.assess.outcome == 'true' or loop.iteration >= 3 }}")

        keep = variable.set(
            loop_idx="{{ tasks.write.output.iterations }}",
            subsection_idx="{{ vars.subsection_idx + (vars.micro_outline[vars.chapter_idx] | length) }}",
            coverage="{{ vars.coverage + [tasks.write.output.last.assess.score] }}",
            patch_actions="{{ vars.patch_actions + [vars.chapters_list[vars.chapter_idx]] * (tasks.write.output.iterations - 1) }}",
            exports={
                "chapters": "{{ vars.exports.chapters + [tasks.write.output.last.draft.text] }}",
                "path": "",
            },
        )

    assemble = modules.data.template(
        text="# {{ vars.macro_outline.title }}\n\n*{{ vars.requirements.question }}*\n\n{{ vars.exports.chapters | join('\\n\\n') }}\n\n## Still to be found\n\n{{ vars.kb_map | map(attribute='sources_wanted') | map('join', '; ') | join('; ') }}",
    )
    save = modules.file.write(
        path="theses/{{ execution.id }}.md",
        content="{{ tasks.assemble.output.text }}",
    )
    note_export = variable.set_with(id="note-export")(
        exports={"chapters": "{{ vars.chapters_list }}", "path": "{{ tasks.save.output.path }}"},
    )
    return {
        "title": "{{ vars.macro_outline.title }}",
        "chapters": "{{ vars.chapters_list }}",
        "scores": "{{ vars.coverage }}",
        "refined": "{{ vars.patch_actions }}",
        "gaps": "{{ vars.gaps_found }}",
        "path": "{{ vars.exports.path }}",
    }
